use super::*;

const PASSAGES: [&str; 2] = [
    "Nodes\nNodes exchange messages on topics. A node of ROS 2 publishes at 10 Hz.",
    "Services\nA service answers one request; it does not stream.",
];

const QUESTION: &str = "How do nodes talk to services?";

/// Returns the text as shown, the sentences that no passage supports, and the worth of the text.
fn read(pieces: &[&str]) -> (String, Vec<String>, AnswerQuality) {
    let passages = PASSAGES.map(str::to_owned);
    let mut attribution =
        Attribution::new(Evidence::new("Robots", passages, None), QUESTION, false);
    let mut shown = Vec::new();
    for piece in pieces {
        let numbers = piece
            .strip_prefix('⟦')
            .and_then(|piece| piece.strip_suffix('⟧'));
        match (numbers, piece.strip_prefix('#')) {
            (Some(numbers), _) => {
                let numbers: Vec<usize> = numbers.split(',').flat_map(str::parse).collect();
                shown.extend(attribution.markers(&numbers));
            }
            (None, Some(other)) => shown.extend(attribution.other(other.to_owned())),
            (None, None) => shown.extend(attribution.text(piece)),
        }
    }
    shown.extend(attribution.finish());
    let (mut text, mut start, mut unsupported) = (String::new(), 0, Vec::new());
    for piece in shown {
        match piece {
            ShownPiece::Text(shown) => text.push_str(&shown),
            ShownPiece::Marker(n, ..) => text.push_str(&format!("[{n}]")),
            ShownPiece::Begin => start = text.len(),
            ShownPiece::Unsupported(_) => unsupported.push(text[start..].to_owned()),
            ShownPiece::UnsupportedCode(line) => unsupported.push(line),
            ShownPiece::AdaptedCode(_) => {}
        }
    }
    (text, unsupported, attribution.worth())
}

#[test]
fn sentences_without_markers_get_them() {
    assert_eq!(
        read(&["Nodes publish messages on", "⟦⟧", " topics"]).0,
        "Nodes publish messages on topics [1]"
    );
    let (text, unsupported, worth) = read(&[
        "Nodes exchange",
        " messages on topics. A service",
        " answers one request. It is so: Is it?",
        "#\n\n- ",
        "Nodes publish at 10 Hz",
        "#\n\n```\nNodes\n```",
    ]);
    assert_eq!(
        text,
        "Nodes exchange messages on topics. [1] A service answers one request. [2] It is so: Is it?\n\n- Nodes publish at 10 Hz [1]\n\n```\nNodes\n```"
    );
    assert_eq!(
        (unsupported, worth),
        (Vec::<String>::new(), AnswerQuality::Answer)
    );
}

#[test]
fn markers_that_are_wrong_are_moved_or_dropped() {
    for (pieces, expected) in [
        (
            &["Nodes exchange messages on topics at 10 Hz ", "⟦2⟧", "."][..],
            "Nodes exchange messages on topics at 10 Hz [1].",
        ),
        (
            &["Nodes exchange messages on topics ", "⟦1⟧", ". So it is"][..],
            "Nodes exchange messages on topics [1]. So it is",
        ),
        (
            &["Nodes exchange messages on topics. ", "⟦1,2⟧", " A"][..],
            "Nodes exchange messages on topics. [1] A",
        ),
        (
            &["Nodes publish at 40 Hz ", "⟦1⟧", "."][..],
            "Nodes publish at 40 Hz.",
        ),
        (&["So ", "⟦2⟧", " it is."][..], "So [2] it is."),
    ] {
        assert_eq!(read(pieces).0, expected);
    }
}

#[test]
fn what_the_passages_leave_open_is_neither_cited_nor_unsupported() {
    let denial = "The passages do not mention how Karpov won the chess match.";
    let (text, unsupported, worth) = read(&[denial]);
    assert_eq!(
        (text.as_str(), unsupported, worth),
        (denial, vec![], AnswerQuality::None)
    );
}

#[test]
fn it_is_what_the_sentence_before_is_about_in_one_paragraph() {
    let (first, second) = ("A service answers one request.", "It takes messages.");
    let (text, ..) = read(&[first, " ", second]);
    assert_eq!(text, format!("{first} [2] {second} [2]"));
    let (text, ..) = read(&[first, "#\n\n", second]);
    assert_eq!(text, format!("{first} [2]\n\n{second} [1]"));
}

#[test]
fn lines_that_were_added_to_code_of_a_passage_are_told() {
    let passages = ["ros2 run demo talker\nros2 topic  list\nros2 node list".to_owned()];
    let adapted = |code: &str| {
        let evidence = Evidence::new("Robots", passages.clone(), None);
        let mut attribution = Attribution::new(evidence, QUESTION, false);
        let pieces = attribution.other(format!("```sh\n{code}\n```\n"));
        pieces.into_iter().find_map(|piece| match piece {
            ShownPiece::AdaptedCode(lines) => Some(lines),
            _ => None,
        })
    };
    let code = "ros2 run demo talker\n  ros2 topic list\n# comment\n";
    assert_eq!(adapted(code), None);
    let line = "ros2 node  kill --all".to_owned();
    assert_eq!(adapted(&format!("{code}  {line}")), Some(vec![line]));
    assert_eq!(adapted("sudo rm\nsudo reboot\nros2 node list"), None);
}

#[test]
fn code_and_what_leads_to_it_are_compared_as_well() {
    let passages = ["Run it:\n```sh\nros2 run demo talker\nros2  topic list\n```".to_owned()];
    let read = |text: &str, code: &str| {
        let evidence = Evidence::new("Robots", passages.clone(), None);
        let mut attribution = Attribution::new(evidence, QUESTION, false);
        let mut pieces = attribution.text(text);
        pieces.extend(attribution.other(format!("\n\n```sh\n{code}\n```")));
        pieces.extend(attribution.finish());
        let unsupported = |piece: &&ShownPiece| {
            matches!(
                piece,
                ShownPiece::Unsupported(_) | ShownPiece::UnsupportedCode(_)
            )
        };
        let count = pieces.iter().filter(unsupported).count();
        (count, attribution.worth())
    };
    for (text, code, expected) in [
        (
            "Run it like this:",
            "ros2 run demo talker",
            (0, AnswerQuality::Answer),
        ),
        (
            "Run it like this:",
            "# List\nros2 topic list\n\n}\nros2 node list",
            (0, AnswerQuality::Answer),
        ),
        (
            "Run it like this:",
            "npm init -y\nnpm publish",
            (1, AnswerQuality::None),
        ),
        (
            "Add it to the `package.json` file:",
            "ros2 run demo talker",
            (1, AnswerQuality::None),
        ),
    ] {
        assert_eq!(read(text, code), expected, "{text} {code}");
    }
}

#[test]
fn an_answer_of_code_alone_is_cited_by_its_lines() {
    for (lead, expected) in [
        ("Write:", "Write:\n\n```\nNodes exchange\n```\n\n[1]"),
        (
            "A service answers one request.",
            "A service answers one request. [2]\n\n```\nNodes exchange\n```",
        ),
    ] {
        assert_eq!(read(&[lead, "#\n\n```\nNodes exchange\n```"]).0, expected);
    }
}

#[test]
fn what_no_passage_says_is_told() {
    let (text, unsupported, worth) = read(&[
        "Nodes publish at 40 Hz ",
        "⟦1⟧",
        ". Then Karpov won the chess match. Nodes exchange messages.",
    ]);
    assert_eq!(
        text,
        "Nodes publish at 40 Hz. Then Karpov won the chess match. Nodes exchange messages. [1]"
    );
    assert_eq!(
        unsupported,
        [
            "Nodes publish at 40 Hz.",
            "Then Karpov won the chess match."
        ]
    );
    assert_eq!(worth, AnswerQuality::None);
    assert_eq!(
        read(&["Nodes exchange messages on topics. Karpov won."]).2,
        AnswerQuality::Answer
    );
}

#[test]
fn an_answer_tells_more_than_its_question() {
    for (text, expected) in [
        ("Nodes talk to the services.", AnswerQuality::Repetition),
        (
            "How do nodes talk to services? The nodes talk to services.",
            AnswerQuality::Repetition,
        ),
        (
            "The passages do not answer the reader's question.",
            AnswerQuality::None,
        ),
        ("Nodes do not talk to services.", AnswerQuality::Answer),
        ("Yes.", AnswerQuality::Answer),
        ("Yes, nodes talk to services.", AnswerQuality::Answer),
        ("Nodes talk to services at 10 Hz.", AnswerQuality::Answer),
        (
            "Nodes talk to services. A service answers one request.",
            AnswerQuality::Answer,
        ),
        (
            "The passages do not say that. A service answers one request.",
            AnswerQuality::Answer,
        ),
    ] {
        assert_eq!(read(&[text]).2, expected, "{text}");
    }
    // A heading is not an answer. Neither is the repeated question, nor a marker alone.
    for (pieces, expected) in [
        (
            &["### Answer", "#\n\n", "The passages do not say that."][..],
            AnswerQuality::None,
        ),
        (&["### Answer", "#\n\n", "Yes."], AnswerQuality::Answer),
        (&[QUESTION], AnswerQuality::Repetition),
        (&["### Nodes", "#\n\n", QUESTION], AnswerQuality::Repetition),
        (&["⟦1⟧"], AnswerQuality::None),
        (
            &["### Answer", "#\n\n", "Which robot?"],
            AnswerQuality::None,
        ),
        (&["#| Hz |\n| --- |\n| 10 |"], AnswerQuality::Answer),
        (&["#- | ", "⟦1⟧", "# 10 |"], AnswerQuality::Answer),
        (&["#```\n10\n```"], AnswerQuality::Answer),
        (&["#```\n\n```"], AnswerQuality::None),
    ] {
        assert_eq!(read(pieces).2, expected, "{pieces:?}");
    }
    for rest in [
        "#\n\n```sh\nros2 run demo talker\n```",
        "#\n\n| Hz |\n|----|\n| a |",
    ] {
        let (.., worth) = read(&["Nodes talk to services:", rest]);
        assert_ne!(worth, AnswerQuality::Repetition, "{rest}");
    }
}

#[test]
fn a_trusted_models_paraphrase_is_unsupported_only_if_a_number_or_name_is_in_no_passage() {
    let passages = PASSAGES.map(str::to_owned);
    for (sentence, is_unsupported) in [
        (
            "Programs hand small notes around through shared named pipes at 10 Hz.",
            false,
        ),
        (
            "Programs hand small notes around through shared named pipes at 20 Hz.",
            true,
        ),
        (
            "Programs hand small notes around through `shared_pipe` pipes.",
            true,
        ),
    ] {
        let marks = [false, true].map(|is_trusted| {
            let evidence = Evidence::new("Robots", passages.clone(), None);
            let mut attribution = Attribution::new(evidence, QUESTION, is_trusted);
            let mut shown = attribution.text(sentence);
            shown.extend(attribution.finish());
            assert_ne!(
                attribution.is_supported(),
                Some(true),
                "a paraphrase proves nothing"
            );
            shown
                .iter()
                .any(|piece| matches!(piece, ShownPiece::Unsupported(_)))
        });
        assert_eq!(marks, [true, is_unsupported], "{sentence}");
    }
}

#[test]
fn a_trusted_models_marker_is_moved_only_to_what_its_passage_lacks() {
    let passages = [
        "Setup\nCall `launch()` first.",
        "Nodes\nA node of your graph talks to the other nodes of this graph at 10 Hz.",
    ];
    let read = |text: &str, end: &str, is_trusted: bool| {
        let passages = passages.map(str::to_owned);
        let evidence = Evidence::new("Robots", passages, None);
        let mut attribution = Attribution::new(evidence, QUESTION, is_trusted);
        let mut pieces = attribution.text(text);
        pieces.extend(attribution.markers(&[1]));
        pieces.extend(attribution.text(end));
        pieces.extend(attribution.finish());
        let (mut markers, mut unsupported) = (Vec::new(), 0);
        for piece in pieces {
            match piece {
                ShownPiece::Marker(n, ..) => markers.push(n),
                ShownPiece::Unsupported(_) => unsupported += 1,
                _ => {}
            }
        }
        (markers, unsupported)
    };
    // The words are those of the other passage, but nothing tells that the model has read it there.
    let said = "Do that for each node of your graph and restart";
    assert_eq!(read(said, ".", false), (vec![2], 0));
    assert_eq!(read(said, ".", true), (vec![1], 0));
    let copied = "A node of your graph talks to the other nodes of this graph";
    assert_eq!(read(copied, ".", true), (vec![2], 0));
    let number = "Each node of your graph talks at 10 Hz";
    assert_eq!(read(number, ".", true), (vec![2], 0));
    // The cited passage lacks the number, and no other has the rest of the sentence.
    let wrong = "Wait for 10 seconds before anything else happens";
    assert_eq!(read(wrong, ".", true), (vec![], 1));
    // A count of the model's own, a literal, and a name put together from its parts.
    let own = "Three things follow from `true` and from `graph.launch()`";
    assert_eq!(read(own, ".", true).1, 0);
    // What leads to code is judged by all passages and the question, too.
    let lead = "Call `launch()` as `nodes` and `services` do";
    assert_eq!(read(lead, ":", true).1, 0);
}

#[test]
fn a_trusted_models_own_line_of_read_names_is_adapted_code() {
    let passages =
        ["Start\nCreate it with `setup()`. The option `rate` is 10 by default.".to_owned()];
    let read = |code: &str, is_trusted: bool| {
        let evidence = Evidence::new("Robots", passages.clone(), None);
        let mut attribution = Attribution::new(evidence, QUESTION, is_trusted);
        let mut pieces = attribution.other(format!("```js\n{code}\n```\n"));
        pieces.extend(attribution.finish());
        let marks = pieces.into_iter().filter_map(|piece| match piece {
            ShownPiece::AdaptedCode(lines) => Some((true, lines)),
            ShownPiece::UnsupportedCode(line) => Some((false, vec![line])),
            _ => None,
        });
        marks.collect::<Vec<_>>()
    };
    let lines = |code: &str| code.lines().map(str::to_owned).collect::<Vec<_>>();
    let own = "services.setup({rate: 10})\nnodes.setup({rate: `10`})";
    assert_eq!(read(own, true), [(true, lines(own))]);
    assert_eq!(read(own, false), [(false, lines(own)[..1].to_vec())]);
    for invented in ["setup({speed: 10})", "setup({rate: 20})"] {
        assert_eq!(
            read(invented, true),
            [(false, lines(invented))],
            "{invented}"
        );
    }
}
