//! A reading view of the book's pages, so that citation links work without a built site.

mod representation;

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use bookrag::api::{markdown_page, prefers_markdown};
use bookrag::book::{
    Block, BlockKind, Document, ListMarkers, Mark, MarkKind, decoded_url, follow_links,
    marked_text, marker_length, page_file, page_markdown, read_document,
};
use bookrag::source::FileCache;
use pulldown_cmark::{Options, Parser, html};

use self::representation::page_of_markdown;
use super::{Server, Shared, lists, pictures};
use crate::html::escaped;

pub(super) async fn page(State(server): Shared, uri: Uri, headers: HeaderMap) -> Response {
    let path = decoded_url(uri.path());
    if let Some(picture) = pictures::at(&server, &path).await {
        return picture;
    }
    if let Some(list) = lists::at(&server, &path).await {
        return list;
    }
    let mut as_markdown = prefers_markdown(&headers, "text/html");
    let site = server.site_url.as_deref();
    if let (Some(site), false) = (site, as_markdown) {
        return Redirect::temporary(&page_of_site(site, &uri)).into_response();
    }
    let mut found = document_at(&server, &path).await;
    if let (None, Some(page)) = (&found, page_of_markdown(&path)) {
        as_markdown = true;
        found = document_at(&server, page).await;
    }
    match found {
        Some(page) if as_markdown => {
            let text = page_markdown(&page.blocks);
            markdown_page(text, site.unwrap_or_default(), &page.url)
        }
        Some(page) => {
            let mode = server.mode_attributes().await;
            let shown = render(&page, server.title(), &server.place, mode);
            representation::html(&page, &server.place, shown)
        }
        None => (
            StatusCode::NOT_FOUND,
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            "There is no page of this documentation at this address.\n",
        )
            .into_response(),
    }
}

/// Returns the URL of a page on the built site. The request may be hostile: `//host/x`, or a full URL.
fn page_of_site(site: &str, uri: &Uri) -> String {
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    format!("{site}/{}", path.trim_start_matches(['/', '\\']))
}

async fn document_at(server: &Server, path: &str) -> Option<Document> {
    let wanted = path.trim_end_matches('/');
    let index = server.context.live_index().await.ok()?;
    let documents = server
        .context
        .catalog()
        .documents(index.index_id)
        .await
        .ok()?;
    let ingest = server.reading.read().await;
    let urls: BTreeMap<String, String> = documents
        .iter()
        .map(|document| (document.row.source.clone(), document.row.url.clone()))
        .collect();
    for document in documents {
        let file = page_file(&ingest.settings, &document.row.source);
        let own = decoded_url(&document.row.url);
        let same = own.trim_end_matches('/') == wanted;
        // A page without a translation is also shown under the prefixes of other locales.
        let fallback = ingest.settings.locales.len() > 1
            && wanted.ends_with(own.rsplit('/').next().unwrap_or_default());
        if !same && !fallback {
            continue;
        }
        let Some(file) = file else { continue };
        let bytes = ingest.source.read(&file.source).await.ok()??;
        let inputs = ingest
            .source
            .inputs(&ingest.settings, &file, &bytes, &FileCache::default())
            .await
            .ok()?;
        let Ok(mut page) = read_document(
            &ingest.settings,
            &ingest.options.site,
            &file,
            &bytes,
            &inputs,
        ) else {
            continue;
        };
        let shown_here = same
            || page
                .fallback_urls
                .values()
                .any(|url| decoded_url(url).trim_end_matches('/') == wanted);
        if shown_here {
            let url = page.url.clone();
            for block in &mut page.blocks {
                follow_links(&mut block.marks, &url, |source| {
                    urls.get(source).map(String::as_str)
                });
                for mark in &mut block.marks {
                    move_below(&mut mark.kind, &server.place);
                }
            }
            return Some(page);
        }
    }
    None
}

/// Moves an address of the book below the path at which this server has it.
fn move_below(kind: &mut MarkKind, place: &str) {
    let addresses = match kind {
        MarkKind::Link(addresses) => addresses.as_mut_slice(),
        MarkKind::Picture(address) => std::slice::from_mut(address),
        _ => &mut [],
    };
    for address in addresses {
        if address.starts_with('/') && !address.starts_with("//") {
            address.insert_str(0, place);
        }
    }
}

/// Returns a page's HTML, with `mode` as attributes of its element. The server has the book below the path `place`.
fn render(document: &Document, book: &str, place: &str, mode: &str) -> String {
    let mut body = String::new();
    for run in document.blocks.chunk_by(|a, b| is_item(a) && is_item(b)) {
        body.push_str(&match run {
            [first, ..] if is_item(first) => render_list(run),
            blocks => blocks.iter().map(render_block).collect(),
        });
    }
    format!(
        "<!doctype html><html lang=\"{}\"{mode}><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} | {book}</title><link rel=\"stylesheet\" href=\"{place}/assets/look.css\"><link rel=\"stylesheet\" href=\"/assets/reading.css\"><link rel=\"icon\" href=\"{place}/favicon.ico\"></head>\
         <body><main class=\"reading\"><nav class=\"crumbs\"><a href=\"{place}/\">Ask {book}</a></nav><p class=\"source\">{source}</p>\
         <article>{body}</article></main></body></html>",
        escaped(&document.file.locale),
        title = escaped(&document.title),
        book = escaped(book),
        source = escaped(&document.file.source),
    )
}

fn is_item(block: &Block) -> bool {
    block.kind == BlockKind::ListItem
}

fn render_block(block: &Block) -> String {
    match &block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            let id = anchor
                .as_ref()
                .map(|anchor| format!(" id=\"{}\"", escaped(anchor)))
                .unwrap_or_default();
            format!("<h{level}{id}>{}</h{level}>", escaped(&block.text))
        }
        BlockKind::Code { .. } => format!(
            "<pre tabindex=\"0\"><code>{}</code></pre>",
            escaped(&block.text)
        ),
        BlockKind::Table => {
            let mut rows = block
                .text
                .lines()
                .map(|row| row.split(" | ").map(escaped).collect::<Vec<_>>());
            let head = rows.next().unwrap_or_default();
            let head: String = head.iter().map(|cell| format!("<th>{cell}</th>")).collect();
            let body: String = rows
                .map(|row| {
                    format!(
                        "<tr>{}</tr>",
                        row.iter()
                            .map(|cell| format!("<td>{cell}</td>"))
                            .collect::<String>()
                    )
                })
                .collect();
            format!("<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        }
        _ => html_of(&inline(block, 0)),
    }
}

fn render_list(items: &[Block]) -> String {
    let mut markers = ListMarkers::default();
    let mut markdown = String::new();
    for item in items {
        let length = marker_length(&item.text);
        markdown.push_str(&markers.place(&item.text[..length]));
        markdown.push_str(&inline(item, length));
        markdown.push('\n');
    }
    html_of(&markdown)
}

/// Renders a block's text from a byte offset. Markup in it is escaped, and formulas stay as TeX.
fn inline(block: &Block, start: usize) -> String {
    let marks = block.marks.iter();
    let marks = marks.filter(|mark| mark.kind != MarkKind::Formula);
    let marks: Vec<Mark> = marks.cloned().collect();
    marked_text(&block.text, &marks, start..block.text.len())
}

fn html_of(markdown: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(markdown, Options::empty()));
    out
}

#[cfg(test)]
mod tests;
