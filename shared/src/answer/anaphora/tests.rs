//! Phrasings of real readers of technical books: questions that need the conversation, and questions that do not.

use super::{asks_for_code, asks_for_form, leans_back};

#[test]
fn a_question_that_lacks_its_subject_leans_back() {
    for question in [
        "And why?",
        "Why?",
        "How so?",
        "Why not?",
        "What else?",
        "Tell me more",
        "Go on.",
        "Can you explain?",
        "Can you give an example?",
        "Can you give an example in Python?",
        "What's the difference?",
        "What are the next steps?",
        "Are you sure?",
        "Is there another way?",
        "And topics?",
        "On Windows?",
        "With Docker instead?",
        "And on Ubuntu 22.04?",
        "But in the simulation?",
        "Which version?",
        "What about services?",
        "how about the Jetson",
        "And what about the second one?",
        "What if the battery is empty?",
        "Why?!",
        "",
    ] {
        assert!(leans_back(question), "{question}");
    }
}

#[test]
fn a_question_for_another_form_of_the_answer_has_nothing_to_search_for() {
    for question in [
        "In simpler words",
        "in simpler words, please",
        "Can you explain that in simple words?",
        "Simplify it",
        "Can you simplify?",
        "Shorter please",
        "Make it shorter",
        "As a table",
        "As bullet points please",
        "In one sentence",
        "Give me a summary",
        "Explain like I'm five",
        "explain it to a beginner",
        "In plain English",
        "In more depth",
        "Show me the code",
        "show me some code",
        "Can I see the code?",
        "Give me a code example",
        "Is there a code sample?",
        "Give me an example",
        "Tell me more",
        "Go on.",
        "Why?",
    ] {
        assert!(
            asks_for_form(question) && leans_back(question),
            "{question}"
        );
    }
    for question in [
        "And in TypeScript?",
        "Show me the code of conduct",
        "What is code?",
        "How do I format code?",
        "What are words?",
        "How do I write a table?",
        "Show me how to mock a module",
        "Give me an example of a snapshot test",
        "Explain mocks in simple words",
        "Which table?",
        "On Windows?",
    ] {
        assert!(!asks_for_form(question), "{question}");
    }
}

#[test]
fn code_is_asked_for_by_name() {
    for question in [
        "Show me the code",
        "A code sample?",
        "Can you give an example?",
        "Got a snippet?",
    ] {
        assert!(asks_for_code(question), "{question}");
    }
    for question in [
        "In simpler words",
        "Tell me more",
        "What is code?",
        "Show me the code of conduct",
    ] {
        assert!(!asks_for_code(question), "{question}");
    }
}

#[test]
fn a_pronoun_without_an_antecedent_leans_back() {
    for question in [
        "how do I update it?",
        "And what does it cost?",
        "How do I install that?",
        "How do I install that package?",
        "How do I install that on Windows?",
        "Does that work with Docker?",
        "What does that do?",
        "Is that the same as a topic?",
        "What does this mean?",
        "What does this error mean?",
        "Do these steps work on a Raspberry Pi?",
        "What are its advantages?",
        "What is the difference between them?",
        "How much memory does it need?",
        "How many sensors can they have?",
        "What parameters does it take?",
        "How long does it take?",
        "Which packages use it?",
        "How do I add a camera to it?",
        "How does Gazebo compare to it?",
        "Show me an example of it",
        "Explain how it works",
        "What happens when it fails?",
        "What comes after it?",
        "Is it able to run offline?",
        "Is it similar to Unity?",
        "How do I build and run it?",
        "Is there one for Python?",
        "Which one should I use?",
        "What's the fastest one?",
        "Can I use both?",
        "How do I do the same in C++?",
        "When should I use the latter?",
        "What's the difference between the two?",
        "Why is using it slow?",
    ] {
        assert!(leans_back(question), "{question}");
    }
}

#[test]
fn a_question_that_names_its_subject_stands_alone() {
    for question in [
        "What is the command that builds a package?",
        "Which node publishes the map that Nav2 uses?",
        "Is there a package that can read GPS data?",
        "Is there something that converts URDF to SDF?",
        "How do I check that ROS is installed?",
        "How do I know that a node is running?",
        "How do I make sure that nodes start in order?",
        "What is URDF?",
        "What's a node?",
        "So what is a node?",
        "And how do I build a package?",
        "How do nodes talk to each other in ROS 2?",
        "What is a quality of service profile?",
        "What is Gazebo and how do I install it?",
        "How do I write a node and run it?",
        "If a node crashes, does it restart?",
        "How do nodes find each other when they start?",
        "How do I stop a node after it starts?",
        "My robot drifts. Why does it do that?",
        "What are topics and services, and when do I use them?",
        "How does a node declare its parameters?",
        "What is Gazebo and what are its benefits?",
        "Is it possible to run ROS 2 on Windows?",
        "Is it a good idea to run nodes as root?",
        "How long does it take to charge the battery?",
        "What does it mean to calibrate a sensor?",
        "Does it matter which sensor is calibrated first?",
        "What will I learn in this chapter?",
        "What is this book about?",
        "How many nodes can one process hold?",
        "Can one package have several nodes?",
        "Can two nodes have the same name?",
        "Is rclpy the same as rclcpp?",
        "What does the first lesson teach?",
        "Show an example of a launch file",
        "Tell me more about topics",
        "What is the difference between a topic and a service?",
        "Explain inverse kinematics",
        "gazebo installation",
        "colcon build fails with exit code 1",
        "Both topics and services have types: which ones?",
    ] {
        assert!(!leans_back(question), "{question}");
    }
}

#[test]
fn words_of_other_languages_do_not_lean_back() {
    for question in [
        "Wie installiere ich Gazebo unter Ubuntu?",
        "¿Cómo simulo temporizadores?",
        "ROS 2 نوڈ کیا ہے؟",
        "什么是节点 ROS 2",
    ] {
        assert!(!leans_back(question), "{question}");
    }
}

/// Questions written after the rules, so the rules are not fitted to them.
#[test]
fn other_questions_are_told_apart_by_the_same_rules() {
    for question in [
        "What is it used for?",
        "How is it different from ROS 1?",
        "What's the fastest one?",
        "Does it cost anything?",
        "Where do I find those files?",
        "Can you summarize that?",
        "And in production?",
        "How do I change that setting?",
        "Why would I do that?",
        "When was it released?",
        "What else can they do?",
        "what does that flag do",
        "how do i turn it off",
        "is that all?",
        "So how do I fix it?",
        "But doesn't that break the build?",
        "Does this also work for C++?",
        "Which of them is faster?",
        "How can I avoid this?",
        "Should I do this before flashing?",
        "Where does it store its logs?",
        "Then what?",
        "and for arm64?",
        "Is there an easier way?",
        "show me the code for that",
        "what if it fails?",
        "How do they differ?",
        "Is it free?",
    ] {
        assert!(leans_back(question), "{question}");
    }
    for question in [
        "How do I mock an ES module?",
        "What does testEnvironment do, and which options does it have?",
        "What is the difference between toBe and toEqual?",
        "Why are my tests slow and how can I make them faster?",
        "How do I test a function that throws?",
        "How do I run a single test file?",
        "Where is the configuration file that Docusaurus reads?",
        "Is there a plugin that adds search?",
        "What happens when a worker fails to exit gracefully?",
        "I get an error that says \"Cannot use import statement outside a module\"",
        "How do I translate my site?",
        "Can I deploy this site to GitHub Pages?",
        "What do I need before I start chapter 2?",
        "How does the Jetson boot, and what does it load first?",
        "When a node dies, how do its subscribers notice?",
        "What are the parts of a robot and what do they do?",
        "Which sensor is the one that measures distance?",
        "Does Nav2 work if the map is missing?",
        "Why is it important to calibrate sensors?",
        "How do I write tests for a component that uses hooks?",
        "How should I structure my code so that tests stay fast?",
        "Is there a way to skip slow tests?",
        "What should I do if the battery is empty?",
        "Do I need a GPU for Isaac Sim?",
        "What's new in version 30?",
        "How can two processes share one port?",
        "list all matchers",
        "jest vs vitest",
    ] {
        assert!(!leans_back(question), "{question}");
    }
}
