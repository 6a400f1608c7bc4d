use super::*;

/// Returns the places that a question names, such as `m2 c5` for chapter 5 of module 2.
fn placed(question: &str) -> Vec<String> {
    let number = |place: &Option<TitleOrNumber>| match place {
        Some(TitleOrNumber::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let places = Intent::of(question).places(&Filters::default());
    let written = places.iter().map(|place| {
        let module = Some(number(&place.module)).filter(|number| !number.is_empty());
        let chapter = Some(number(&place.chapter)).filter(|number| !number.is_empty());
        let parts = [
            module.map(|number| format!("m{number}")),
            chapter.map(|number| format!("c{number}")),
            place.lesson.as_ref().map(|lesson| format!("l{lesson}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    written.collect()
}

#[test]
fn places_are_named_by_their_numbers() {
    let named: [(&str, &[&str]); 27] = [
        ("What are the prerequisites of Chapter 4?", &["c4"]),
        ("I finished chapter 3; how do I install Gazebo?", &["c3"]),
        ("Which exercises does chapter 3 or 4 have?", &["c3", "c4"]),
        ("compare chapter 1 and chapter 2", &["c1", "c2"]),
        ("compare chapters 1 and 2", &["c1", "c2"]),
        ("chapters 1, 2 and 5", &["c1", "c2", "c5"]),
        ("what do chapters 2 to 4 build on?", &["c2", "c3", "c4"]),
        ("what do chapters 2-4 build on?", &["c2", "c3", "c4"]),
        ("chapters 5–7, please", &["c5", "c6", "c7"]),
        ("chapter 1 vs chapter 9", &["c1", "c9"]),
        ("chapter 1 vs 9", &["c1", "c9"]),
        ("summarize ch. 7", &["c7"]),
        ("in ch 7, why is the PID unstable?", &["c7"]),
        ("chap. 2: what is a frame?", &["c2"]),
        ("chapter no. 6", &["c6"]),
        ("chapter number 6", &["c6"]),
        ("What does section 3.2 of chapter 3 say?", &["c3"]),
        ("chapter 3.2 exercise 1", &["c3"]),
        ("Module 2 quiz", &["m2"]),
        ("what will I learn in modules 1 and 2", &["m1", "m2"]),
        ("module 2, chapter 5: how is the map built?", &["m2 c5"]),
        ("summarize lesson 1.2.3.", &["l1.2.3"]),
        ("lessons 1.2.3 and 1.2.4", &["l1.2.3", "l1.2.4"]),
        ("Was it in chapter 3 that URDF is explained?", &["c3"]),
        ("chapter 3, chapter 3 and again chapter 3", &["c3"]),
        (
            "what changed between chapters 1 through 90",
            &["c1", "c2", "c3", "c4"],
        ),
        (
            "do chapters 1, 2, 3, 4, 5 use ROS?",
            &["c1", "c2", "c3", "c4"],
        ),
    ];
    for (question, expected) in named {
        assert_eq!(placed(question), expected, "{question}");
    }
}

#[test]
fn a_number_elsewhere_names_no_place() {
    for question in [
        "how many chapters are there",
        "what are the 3 chapters about?",
        "which chapter explains topics?",
        "the next chapter",
        "does this chapter need 4 GB of memory?",
        "ROS 2 and Gazebo 11",
        "install Python 3.10",
        "module not found: numpy 2",
        "ModuleNotFoundError in line 3",
        "section 3 of the form",
        "step 3 or 4 fails",
        "an archive of 2 parts",
        "figure 3-4",
        "chapters and modules: what is the difference?",
        "chapter and verse",
        "a lesson in 3 parts",
        "lesson 3.2",
        "",
    ] {
        assert_eq!(placed(question), [""; 0], "{question}");
    }
}

#[test]
fn a_place_that_the_caller_has_set_stands() {
    let chapter = Filters {
        chapter: Some(TitleOrNumber::Number(4)),
        ..Filters::default()
    };
    assert_eq!(Intent::of("in chapter 3").places(&chapter), []);
    let locale = Filters {
        locale: Some("ur".to_owned()),
        ..Filters::default()
    };
    let places = Intent::of("in chapter 3").places(&locale);
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].locale, locale.locale);
}

#[test]
fn a_lesson_is_named_by_the_number_in_its_title() {
    let titles = |question: &str| Intent::of(question).lesson_titles;
    assert_eq!(titles("what is in lesson 3.2?"), ["lesson 3.2"]);
    assert_eq!(titles("lessons 3.2 and 4"), ["lesson 3.2", "lesson 4"]);
    assert_eq!(titles("lesson 1.2.3"), [""; 0]);
}

#[test]
fn the_longest_lists_of_places_cost_little() {
    let numbers = |count: i64| {
        (1..count)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let lessons: Vec<String> = (0..187).map(|n| format!("1.0.{n}")).collect();
    let (modules, chapters) = (numbers(187), numbers(187));
    let question = format!(
        "modules {modules} chapters {chapters} lessons {}",
        lessons.join(" ")
    );
    assert_eq!(placed(&question).len(), MAX_PLACES);
    assert_eq!(placed("chapters 9223372036854775807 to 9").len(), 2);
}

#[test]
fn a_kind_of_section_is_asked_for_in_whole_words() {
    let kind = |question: &str| Intent::of(question).kind;
    assert_eq!(
        kind("What will I learn in module 2?"),
        Some(Kind::Objectives)
    );
    assert_eq!(kind("give me quizzes on topics"), Some(Kind::Quiz));
    assert_eq!(
        kind("the prerequisites of chapter 2"),
        Some(Kind::Prerequisites)
    );
    for question in [
        "What is a destructuring assignment?",
        "exercised options",
        "quizzical",
    ] {
        assert_eq!(kind(question), None, "{question}");
    }
}
