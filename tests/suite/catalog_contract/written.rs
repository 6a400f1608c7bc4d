//! The questions that a model wrote, and what they cost.

use std::time::Duration;

use bookrag::catalog::Account;

use super::Store;
use super::rows::{chunk, commit, live_index, write};

const A: &str = "docs/a.md";
const B: &str = "docs/b.md";

pub(super) async fn questions_of_a_page_are_replaced_only_if_they_are_the_expected_ones(
    store: Store,
) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let save = async |former, file| {
        let saved = catalog.save_written_questions("book", A, former, file);
        saved.await.unwrap()
    };
    assert!(save(None, "# 0\nwhy “a”?\n").await);
    assert!(!save(None, "# 0\nlate\n").await);
    assert!(!save(Some("else"), "# 0\nlate\n").await);
    assert!(save(Some("# 0\nwhy “a”?\n"), "# 1\nb\n").await);
    let other = catalog.save_written_questions("other", A, None, "other");
    assert!(other.await.unwrap());
    let catalog = store.reopened().await;
    let all = catalog.written_questions("book", None).await.unwrap();
    assert_eq!(
        Vec::from_iter(&all),
        [(&A.to_owned(), &"# 1\nb\n".to_owned())]
    );
    for (sources, count) in [
        (vec![A.to_owned(), B.to_owned()], 1),
        (vec![B.to_owned()], 0),
    ] {
        let found = catalog.written_questions("book", Some(&sources)).await;
        assert_eq!(found.unwrap().len(), count);
    }
}

pub(super) async fn questions_outlive_their_page_for_a_while(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for source in [A, B] {
        write(
            catalog,
            &commit(index_id, source, 0, &[chunk(source, 0, source)]),
        )
        .await;
        let saved = catalog.save_written_questions("book", source, None, source);
        saved.await.unwrap();
    }
    let mut deletion = commit(index_id, A, 1, &[]);
    deletion.document.deleted = true;
    write(catalog, &deletion).await;
    for (age, left) in [(Duration::from_hours(1), 2), (Duration::ZERO, 1)] {
        let forgotten = catalog.forget_written_questions("other", age).await;
        forgotten.unwrap();
        let forgotten = catalog.forget_written_questions("book", age).await;
        forgotten.unwrap();
        let written = catalog.written_questions("book", None).await.unwrap();
        assert_eq!(written.len(), left);
        assert!(written.contains_key(B));
    }
}

pub(super) async fn questions_are_paid_from_an_account_of_their_own(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    for account in [Account::Answers, Account::Questions] {
        assert!(catalog.reserve_spend(account, 100, 100).await.unwrap());
        assert!(!catalog.reserve_spend(account, 1, 100).await.unwrap());
    }
    let settled = catalog.settle_spend(Account::Questions, 100, 40).await;
    settled.unwrap();
    assert!(
        catalog
            .reserve_spend(Account::Questions, 60, 100)
            .await
            .unwrap()
    );
    assert!(
        !catalog
            .reserve_spend(Account::Answers, 1, 100)
            .await
            .unwrap()
    );
}
