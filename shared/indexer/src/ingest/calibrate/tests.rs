use super::{BTreeSet, FORMS, OFF_TOPIC, QUESTIONS, both_forms};
use crate::ingest::simulation::stores::{Stores, options};
use crate::ingest::{Ingest, OpenMode, SyncOptions, sync};
use crate::source::MemorySource;
use fakes::faults::block_on;
use store::catalog::{Calibration, Scale, Scales};

fn write(source: &MemorySource, page: &str, sections: std::ops::Range<usize>) {
    let section = |number| {
        format!("## Gauge {number} of {page}\n\nThe gauge {number} shows the dew of {page}.\n\n")
    };
    let text: String = sections.map(section).collect();
    source.files().insert(
        format!("docs/{page}.md"),
        format!("# {page}\n\n{text}").into_bytes(),
    );
}

fn run(ingest: &Ingest) -> (Ingest, u64) {
    let report = block_on(sync(ingest, SyncOptions::default(), |_| {})).expect("no call fails");
    assert_eq!(report.warnings, [""; 0]);
    let reopened = block_on(ingest.reopened(OpenMode::Write)).expect("no call fails");
    (reopened, report.embedded_tokens)
}

fn calibration(ingest: &Ingest) -> Option<Calibration> {
    ingest.index_row.calibration.clone()
}

#[test]
fn a_book_is_calibrated_once_and_again_after_it_has_grown_by_half() {
    let source = MemorySource::default();
    write(&source, "north", 0..20);
    let ingest = block_on(Stores::new().open(&source, options())).expect("no call fails");
    assert_eq!(calibration(&ingest), None);

    let (ingest, _) = run(&ingest);
    let first = calibration(&ingest).expect("it is calibrated");
    let Scales {
        book, off_topic, ..
    } = first.scales;
    let z = |deviations, others| {
        let near = |scale: Scale, by| scale.median + scale.deviation * by;
        let z = first
            .scales
            .z(near(book, deviations), Some(near(off_topic, others)));
        z.expect("the questions differ")
    };
    assert!(z(0.0, 0.0).abs() < 0.5 && z(1.0, 0.0) > z(0.0, 0.0));
    assert!(z(0.0, 1.0) < z(0.0, 0.0));
    let index_id = ingest.index_row.index_id;
    let vectors = block_on(ingest.catalog.off_topic_vectors(index_id)).expect("no call fails");
    assert!(vectors.is_some_and(|bytes| !bytes.is_empty()));

    // An unchanged index embeds nothing; one that grew by less than half embeds only the new page.
    let (ingest, tokens) = run(&ingest);
    assert_eq!((calibration(&ingest), tokens), (Some(first.clone()), 0));
    write(&source, "south", 0..5);
    let (ingest, of_the_page) = run(&ingest);
    assert_eq!(calibration(&ingest), Some(first.clone()));

    write(&source, "east", 0..5);
    let (ingest, with_calibration) = run(&ingest);
    let second = calibration(&ingest).expect("it stays calibrated");
    assert!(second.chunks * 2 >= first.chunks * 3, "{second:?}");
    assert!(
        with_calibration > of_the_page + 500,
        "{with_calibration} tokens are counted"
    );
}

#[test]
fn the_questions_are_the_same_in_every_language() {
    for (language, questions) in OFF_TOPIC {
        let different: BTreeSet<&str> = questions.lines().collect();
        assert_eq!(different.len(), QUESTIONS, "{language}");
        let forms = both_forms(questions);
        assert_eq!(forms.len(), QUESTIONS * FORMS, "{language}");
        assert!(!forms.contains(&String::new()), "{language}");
    }
}

#[test]
fn a_short_question_has_the_words_that_few_questions_have() {
    let short = |list: usize| both_forms(OFF_TOPIC[list].1).split_off(QUESTIONS);
    let english = short(0);
    assert_eq!(english[1], "bake sourdough bread");
    let german = short(2);
    assert_eq!(german[1], "backe Sauerteigbrot");
}

#[test]
fn a_calibration_with_fewer_questions_is_measured_again() {
    let source = MemorySource::default();
    write(&source, "north", 0..20);
    let ingest = block_on(Stores::new().open(&source, options())).expect("no call fails");
    let (ingest, _) = run(&ingest);
    let current = calibration(&ingest).expect("it is calibrated");
    let mut older = serde_json::to_value(&current).expect("it is JSON");
    let fields = older.as_object_mut().expect("it is an object");
    fields.remove("difference");
    fields.remove("questions");
    let older: Calibration = serde_json::from_value(older).expect("it is read");
    assert!(older.scales.z(0.5, Some(0.5)).is_some());
    let index_id = ingest.index_row.index_id;
    let set = ingest.catalog.set_calibration(index_id, older, Vec::new());
    block_on(set).expect("no call fails");
    let reopened = block_on(ingest.reopened(OpenMode::Write)).expect("no call fails");
    let (ingest, _) = run(&reopened);
    assert_eq!(calibration(&ingest), Some(current));
}

#[test]
fn a_book_of_few_chunks_is_not_calibrated() {
    let source = MemorySource::default();
    write(&source, "north", 0..8);
    let ingest = block_on(Stores::new().open(&source, options())).expect("no call fails");
    let (ingest, _) = run(&ingest);
    assert_eq!(calibration(&ingest), None);
}

#[test]
fn an_index_is_calibrated_when_it_becomes_the_live_one() {
    let source = MemorySource::default();
    write(&source, "north", 0..20);
    let stores = Stores::new();
    let former = block_on(stores.open(&source, options())).expect("no call fails");
    run(&former);
    let mut other = options();
    other.site = "another".to_owned();
    let next = block_on(stores.open(&source, other)).expect("no call fails");
    assert_eq!(calibration(&next), None);
    let (next, _) = run(&next);
    assert!(calibration(&next).is_some());
}

#[test]
fn a_run_whose_calibration_fails_says_so_and_does_the_rest() {
    let source = MemorySource::default();
    write(&source, "north", 0..20);
    let stores = Stores::new();
    let ingest = block_on(stores.open(&source, options())).expect("no call fails");
    block_on(ingest.ingest_document("docs/north.md")).expect("no call fails");
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE OF scales ON indexes
        BEGIN SELECT RAISE(ABORT, 'refused'); END";
    block_on(stores.catalog.execute(refuse)).expect("the trigger is made");
    let settled = block_on(ingest.settle(SyncOptions::default())).expect("the rest is done");
    assert_eq!(settled.warnings.len(), 1, "{:?}", settled.warnings);
    assert!(
        settled.warnings[0].contains("not calibrated"),
        "{:?}",
        settled.warnings
    );
}
