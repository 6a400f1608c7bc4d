//! Checks the API against its description (`docs/openapi.json`) with schemathesis: no 500, and no undocumented response.

use std::path::Path;
use std::process::Stdio;

use bookrag_tests::chat_model::Reply;
use tokio::process::Command;

use super::Service;

/// Random requests per operation, besides those that cover its description.
const EXAMPLES: &str = "20";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,negative_data_rejection,unsupported_method";

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_one_that_the_description_allows() {
    let python = std::env::var("BOOKRAG_TEST_PYTHON")
        .expect("BOOKRAG_TEST_PYTHON names a Python that has schemathesis; tests/run.sh sets it");
    let extractive = [("BOOKRAG_GENERATOR", "extractive")];
    let service = Service::start("description", Reply::Hangs, &extractive).await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(python)
        .args(["-m", "schemathesis.cli", "run"])
        .arg(file)
        .args([
            "--url",
            &service.url,
            "--checks",
            CHECKS,
            "--max-examples",
            EXAMPLES,
        ])
        .args([
            "--phases",
            "examples,coverage,fuzzing",
            "--continue-on-failure",
            "--seed",
            "1",
        ])
        .args(["--warnings", "off"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(said.contains("Tested: 14"), "{said}");
}
