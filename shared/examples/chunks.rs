//! tmp
use bookrag::{book::*, chunk::*, source::*};
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let root = std::env::args().nth(1).unwrap();
    let loc = std::env::args().nth(2);
    let s = Source::Folder(FolderSource::open(root.as_ref()).unwrap());
    let set = s.settings().await.unwrap();
    eprintln!("{:?} {:?}", set.sources, set.warnings);
    let paths = s.list().await.unwrap();
    for p in list_pages(&set, &paths) {
        let b = s.read(&p.source).await.unwrap().unwrap();
        let i = s.inputs(&set, &p, &b).await.unwrap();
        match read_document(&set, "x", &p, &b, &i) {
            Err(e) => eprintln!("{}: {e}", p.source),
            Ok(d) => {
                let url = match &loc {
                    None => {
                        if p.locale != set.default_locale {
                            continue;
                        }
                        d.url.clone()
                    }
                    Some(l) => {
                        if p.locale == *l {
                            d.url.clone()
                        } else if let Some(u) = d.fallback_urls.get(l) {
                            u.clone()
                        } else {
                            continue;
                        }
                    }
                };
                for c in chunk_document(&d, &ChunkPolicy::ADAPTIVE) {
                    let u = match &c.section_id {
                        Some(a) => format!("{url}#{a}"),
                        None => url.clone(),
                    };
                    println!(
                        "{}",
                        serde_json::json!({"source":p.source,"url":u,"section":c.section,"start_line":c.start_line,"end_line":c.end_line,"text":c.text,"tokens":c.token_count})
                    );
                }
            }
        }
    }
}
