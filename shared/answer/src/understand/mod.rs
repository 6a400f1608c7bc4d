//! Understands a question: its conversation, its language, what part of the docs it is about.

pub(crate) mod conversation;
pub(crate) mod follow_up;
pub(crate) mod pointing;
pub(crate) mod language;
pub(crate) mod small_talk;
pub(crate) mod selection;
pub(crate) mod normal_form;
