//! The `bookrag` command.

use std::process::ExitCode;

use bookrag_cli::{Arguments, run};
use clap::Parser;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)).into(),
        Err(error) => {
            eprintln!("error: the runtime could not start: {error}");
            ExitCode::FAILURE
        }
    }
}
