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
        let support = evidence.support(sentence, &[passage]);
        assert_eq!(support.is_supported(), expected, "{sentence} {support:?}");
    }
}

#[test]
fn a_sentence_is_attributed_to_the_passage_that_fits_best() {
    let evidence = evidence();
    assert_eq!(
        evidence.best("Subscribers read messages on topics."),
        Some(2)
    );
    assert_eq!(evidence.best("The robot weighs 1,250 g."), Some(1));
    assert_eq!(evidence.best("The robot weighs 1,300 g."), None);
    assert_eq!(evidence.best("Here is an example of a walk."), None);
    assert!(evidence.may_say("Here is an example of a walk."));
    assert!(!evidence.may_say("Then Karpov won the match."));
}

#[test]
fn passages_that_are_cited_together_are_read_together() {
    let sentence = "The robot of 1,250 g reads topics with `rclcpp`.";
    assert!(!evidence().support(sentence, &[1]).is_supported());
    assert!(evidence().support(sentence, &[1, 2]).is_supported());
    assert!(!evidence().support(sentence, &[]).is_supported());
}

#[test]
fn other_languages_are_compared_by_numbers_and_names() {
    let evidence = Evidence::new(
        "Roboter",
        ["Der Roboter fährt nicht 5 m.".to_owned()],
        Some("de"),
    );
    assert!(evidence.support("Das Haus fährt 5 m.", &[1]).is_supported());
    assert!(
        !evidence
            .support("Der Roboter fährt 6 m.", &[1])
            .is_supported()
    );
}
