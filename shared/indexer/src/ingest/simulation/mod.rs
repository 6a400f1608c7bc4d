//! A simulation of the ingest protocol: random histories of changes, events, handlers, crashes, failures and sweeps, each
//! determined by its seed. `BOOKRAG_TEST_SEED=N` replays one history of each kind, `BOOKRAG_TEST_HISTORIES=N` runs that many
//! (from that seed, if both are given). `tests/simulation.sh` runs new seeds until a given time has passed.
//!
//! At every step, a reader sees the points of exactly one committed revision of each document. After all changes stop, the
//! points, the catalog's rows and the chunks of the files are the same.

mod book;
mod renaming;
pub(crate) mod stores;
mod switching;
mod world;

use fakes::faults::Part;

use world::{Attack, Failure, World};

/// Histories of a local run; .github/workflows/ci.yml runs more.
const HISTORIES: u64 = 200;

/// Histories of a local run with each kind of attack, and the most of a run that is told how many histories to run.
const ATTACKED: u64 = 50;
const ATTACKED_MOST: u64 = 125;

/// Histories within which removing any part of the protocol must cause a failure.
const SEARCHED: u64 = 20_000;

fn history(seed: u64, removed: Option<Part>) -> Result<(), Failure> {
    World::new(seed, removed, Vec::new()).run()
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns the seeds to run: `count` of them, or as many as the environment says, but at most `most`.
fn seeds(count: u64, most: u64) -> std::ops::Range<u64> {
    let histories = from_env("BOOKRAG_TEST_HISTORIES").map(|histories| histories.min(most));
    let (from, count) = match from_env("BOOKRAG_TEST_SEED") {
        Some(seed) => (seed, histories.unwrap_or(1)),
        None => (0, histories.unwrap_or(count)),
    };
    from..from + count
}

/// Returns the seeds of the histories with one kind of attack.
fn attacked() -> std::ops::Range<u64> {
    seeds(ATTACKED, ATTACKED_MOST)
}

#[test]
fn whatever_happens_the_index_is_the_book_in_the_end() {
    for seed in seeds(HISTORIES, u64::MAX) {
        if let Err(failure) = history(seed, None) {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn what_the_store_lost_or_kept_is_found_and_mended() {
    for seed in attacked() {
        let mut world = World::new(seed, None, vec![Attack::Damage]);
        if let Err(failure) = world.run() {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn comparing_while_others_write_does_no_harm() {
    for seed in attacked() {
        let mut world = World::new(seed, None, vec![Attack::Comparisons]);
        if let Err(failure) = world.run() {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn settings_that_change_meanwhile_reach_every_page() {
    for seed in attacked() {
        let mut world = World::new(seed, None, vec![Attack::Settings]);
        if let Err(failure) = world.run() {
            panic!("seed {seed}: {failure}");
        }
    }
}

/// Runs a history in which another deployment fills its own index and switches to it.
fn deployment(seed: u64) -> Result<(), Failure> {
    let mut attacks = vec![Attack::Deployment];
    if seed.is_multiple_of(2) {
        attacks.push(Attack::Settings);
    }
    if seed.is_multiple_of(3) {
        attacks.push(Attack::Renaming);
    }
    World::new(seed, None, attacks).run()
}

#[test]
fn a_switch_of_indexes_under_writers_loses_nothing() {
    for seed in attacked() {
        if let Err(failure) = deployment(seed) {
            panic!("seed {seed}: {failure}");
        }
    }
}

/// Removes a part of the protocol and expects a history that fails without it. Tries the seed that failed before first.
fn is_missed(part: Part, found_before: u64) {
    let mut seeds = std::iter::once(found_before).chain(0..SEARCHED);
    let Some(seed) = seeds.find(|seed| history(*seed, Some(part)).is_err()) else {
        panic!("no history needs {part:?}");
    };
    let failure = history(seed, Some(part)).expect_err("a seed replays");
    eprintln!("without {part:?}, seed {seed}: {failure}");
}

#[test]
fn the_comparison_of_revisions_is_missed() {
    is_missed(Part::CompareAndSet, 58);
}

#[test]
fn intents_are_missed() {
    is_missed(Part::Intents, 3);
}

#[test]
fn the_check_of_intents_is_missed() {
    is_missed(Part::IntentCheck, 39);
}

#[test]
fn the_claim_before_the_sweep_is_missed() {
    is_missed(Part::ClaimBeforeSweep, 674);
}

#[test]
fn the_list_of_garbage_is_missed() {
    is_missed(Part::GarbageList, 4);
}

#[test]
fn the_join_is_missed() {
    is_missed(Part::Join, 0);
}

#[test]
fn reading_the_file_as_it_is_now_is_missed() {
    is_missed(Part::LevelTriggered, 0);
}

#[test]
fn the_look_after_the_commit_is_missed() {
    is_missed(Part::LookAfterCommit, 1_036);
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 0..6 {
        for attacks in [
            vec![],
            vec![Attack::Settings],
            vec![Attack::Deployment, Attack::Renaming],
        ] {
            let [first, second] = [(); 2].map(|()| {
                let mut world = World::new(seed, None, attacks.clone());
                let result = world.run().map_err(|failure| failure.to_string());
                (result, world.trace())
            });
            assert!(first.1.len() > 10, "seed {seed}: {} steps", first.1.len());
            assert_eq!(first, second, "seed {seed}, {attacks:?}");
        }
    }
}
