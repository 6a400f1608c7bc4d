//! Values of filters that the book does not have.

use crate::support::Workshop;

#[test]
fn a_filter_value_that_the_book_does_not_have_is_named_with_those_it_has() {
    let workshop = Workshop::indexed();
    workshop.sync();
    for (arguments, told) in [
        (
            ["ask", "What is a node?", "--locale", "fr"],
            "filters.locale must be a value that the book has, got `fr`; the book has `en`",
        ),
        (
            ["search", "a node", "--locale", "fr"],
            "filters.locale must be a value that the book has, got `fr`; the book has `en`",
        ),
        (
            ["ask", "What is a node?", "--book-version", "99"],
            "filters.version must be a value that the book has, got `99`; the book has `current`",
        ),
        (
            ["search", "a node", "--book-version", "99"],
            "filters.version must be a value that the book has, got `99`; the book has `current`",
        ),
    ] {
        let ended = workshop.run(&arguments);
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(error.contains(told), "{arguments:?}: {error}");
        // Exit code 4 means that the book does not answer the question.
        assert_ne!(ended.status.code(), Some(4), "{arguments:?}");
        assert!(!ended.status.success(), "{arguments:?}");
    }
}
