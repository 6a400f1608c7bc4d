use super::*;

const PASSAGE: &str =
    "The robot weighs 1,250 g and drives 2.50 m in ten seconds. It does not swim.";
const OTHER: &str =
    "Nodes publish messages on topics; subscribers read them in ROS 2 with `rclcpp`.";

fn evidence() -> Evidence {
    Evidence::new("Robots", [PASSAGE, OTHER].map(str::to_owned), None)
}

#[test]
fn a_sentence_is_borne_out_by_its_words_numbers_and_names() {
    let evidence = evidence();
    for (sentence, passage, expected) in [
        ("It weighs 1250 g.", 1, true),
        ("The robot drives 2.5 m in ten seconds.", 1, true),
        ("It drives in 10 seconds.", 1, true),
        ("Robots drive.", 1, true),
        ("It is so.", 1, true),
        ("The robot weighs 1300 g.", 1, false),
        ("The robot drives in seven seconds.", 1, false),
        ("Karpov won the chess match.", 2, true),
        ("Then Karpov won the chess match.", 1, false),
        ("It does swim.", 1, false),
        ("Use `rclcpp` of ROS2.", 2, true),
        ("Use `rclpy` of ROS2.", 2, false),
        ("Nodes publish messages on topics.", 1, true),
        (
            "Gardeners water every plant early, before noon heat sets.",
            1,
            false,
        ),
    ] {
        let support = evidence.support(&evidence.claim(sentence), &[passage]);
        assert_eq!(support.is_supported(), expected, "{sentence} {support:?}");
    }
}

#[test]
fn a_sentence_is_attributed_to_the_passage_that_fits_best() {
    let evidence = evidence();
    for (sentence, expected) in [
        ("Subscribers read messages on topics.", Best::Passage(2)),
        ("The robot weighs 1,250 g.", Best::Passage(1)),
        ("The robot weighs 1,300 g.", Best::None),
        ("Here is an example of a walk.", Best::Uncertain),
        ("Then Karpov won the match.", Best::None),
    ] {
        assert_eq!(
            evidence.best(&evidence.claim(sentence)),
            expected,
            "{sentence}"
        );
    }
}

#[test]
fn passages_that_are_cited_together_are_read_together() {
    let evidence = evidence();
    let claim = evidence.claim("The robot of 1,250 g reads topics with `rclcpp`.");
    for (passages, expected) in [(&[1][..], false), (&[1, 2], true), (&[], false)] {
        let support = evidence.support(&claim, passages);
        assert_eq!(support.is_supported(), expected, "{passages:?}");
    }
}

#[test]
fn other_languages_are_compared_by_numbers_and_names() {
    let passage = "Der Roboter fährt nicht 5 m.".to_owned();
    let evidence = Evidence::new("Roboter", [passage], Some("de"));
    for (sentence, expected) in [
        ("Das Haus fährt 5 m.", true),
        ("Der Roboter fährt 6 m.", false),
    ] {
        let support = evidence.support(&evidence.claim(sentence), &[1]);
        assert_eq!(support.is_supported(), expected, "{sentence}");
    }
}

#[test]
fn a_sentence_that_goes_on_is_from_the_passage_of_the_one_before() {
    let passages = [
        "testEnvironment\nWhere tests run. Default: node.",
        "testRunner\nWhat runs the tests, inside node. It must be installed.",
    ];
    let evidence = Evidence::new("Jest", passages.map(str::to_owned), None);
    let before = |sentence| evidence.claim(sentence);
    for (first, sentence, expected) in [
        ("The testRunner is a package.", "It needs node.", 2),
        ("The testEnvironment is a package.", "It needs node.", 1),
        // A sentence that names its subject does not depend on the one before.
        ("The testRunner is a package.", "The default needs node.", 1),
    ] {
        let claim = evidence.claim(sentence).after(&before(first));
        assert_eq!(evidence.best(&claim), Best::Passage(expected), "{first}");
    }
    // A chain of "it" sentences keeps its subject but inherits no number.
    let second = before("It is installed by npm.").after(&before("The testRunner is a package."));
    let third = evidence.claim("This runs in node.").after(&second);
    assert_eq!(evidence.best(&third), Best::Passage(2));
    let wrong = evidence.claim("It needs node 18.").after(&second);
    assert_eq!(evidence.best(&wrong), Best::None);
}
