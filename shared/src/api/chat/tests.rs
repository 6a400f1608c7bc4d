use super::*;

fn question(history: Vec<HistoryMessage>) -> Result<Question, Error> {
    Question::try_from(ChatRequest {
        query: Some("Why?".to_owned()),
        history,
        ..ChatRequest::default()
    })
}

fn message(role: &str, content: String) -> HistoryMessage {
    HistoryMessage {
        role: role.to_owned(),
        content,
    }
}

#[test]
fn an_answer_of_the_api_is_taken_back_as_history_and_cut() {
    let long = "é".repeat(16_000);
    let history = vec![
        message("user", "How?".to_owned()),
        message("assistant", long),
    ];
    let question = question(history).unwrap();
    assert_eq!(question.history.len(), 1);
    assert_eq!(question.history[0].question, "How?");
    let answer = question.history[0].answer.as_ref().unwrap();
    assert_eq!(*answer, "é".repeat(MAX_HISTORY_CHARACTERS));
}

#[test]
fn of_a_long_history_the_newest_messages_are_read() {
    let history = (0..25).map(|n| message("user", format!("{n}?"))).collect();
    let question = question(history).unwrap();
    let asked: Vec<&str> = question
        .history
        .iter()
        .map(|turn| turn.question.as_str())
        .collect();
    assert_eq!(
        asked,
        [
            "15?", "16?", "17?", "18?", "19?", "20?", "21?", "22?", "23?", "24?"
        ]
    );
}

#[test]
fn a_history_of_another_role_is_refused_by_its_field() {
    let error = question(vec![message("system", "x".to_owned())]).unwrap_err();
    assert_eq!(error.field, Some("history.role"));
}
