use axum::http::HeaderValue;

use super::*;

const CONNECTED: &str = "198.51.100.1";

/// Returns a request from an address, with lines of `X-Forwarded-For`.
fn request(forwarded: &[&str]) -> Request<Body> {
    let mut request = Request::new(Body::empty());
    for line in forwarded {
        let value = HeaderValue::from_bytes(line.as_bytes()).expect("visible");
        request.headers_mut().append(FORWARDED_FOR, value);
    }
    let address = SocketAddr::new(CONNECTED.parse().expect("an address"), 4_321);
    request.extensions_mut().insert(ConnectInfo(address));
    request
}

/// Like [`request`], through API Gateway, which appends its source.
fn through_gateway(source: &str, forwarded: &[&str]) -> Request<Body> {
    let mut request = request(forwarded);
    let source = ClientAddress(source.to_owned());
    request.extensions_mut().insert(source);
    request
}

#[test]
fn a_bare_header_is_nobodys_word() {
    let forged = ["203.0.113.9", "203.0.113.9, 203.0.113.8"];
    assert_eq!(client_address(&request(&forged), 0), CONNECTED);
    let source = "203.0.113.7";
    assert_eq!(client_address(&through_gateway(source, &forged), 0), source);
    assert_eq!(client_address(&Request::new(Body::empty()), 0), "unknown");
}

#[test]
fn trusted_proxies_are_counted_from_the_right() {
    let lines = ["203.0.113.9, 203.0.113.8", "203.0.113.7"];
    for (proxies, address) in [(1, "203.0.113.7"), (2, "203.0.113.8"), (3, "203.0.113.9")] {
        assert_eq!(client_address(&request(&lines), proxies), address);
    }
}

#[test]
fn what_a_gateway_appends_is_not_counted_twice() {
    let edge = "192.0.2.1";
    let behind = through_gateway(edge, &["203.0.113.9, 203.0.113.7, 192.0.2.1"]);
    assert_eq!(client_address(&behind, 1), "203.0.113.7");
    assert_eq!(client_address(&behind, 2), "203.0.113.9");
    let not_appended = through_gateway(edge, &["203.0.113.9, 203.0.113.7"]);
    assert_eq!(client_address(&not_appended, 1), "203.0.113.7");
    let edge = "2001:db8::1";
    let spelt_otherwise = through_gateway(edge, &["203.0.113.7, 2001:DB8:0::1"]);
    assert_eq!(client_address(&spelt_otherwise, 1), "203.0.113.7");
    // Without a gateway that writes the header, a client may use the proxy's own address.
    let from_there = request(&["203.0.113.9, 198.51.100.1"]);
    assert_eq!(client_address(&from_there, 1), CONNECTED);
}

#[test]
fn a_request_that_did_not_come_through_all_proxies_has_the_platforms_address() {
    for (lines, proxies) in [
        (&[][..], 1),
        (&["203.0.113.9"], 2),
        (&["203.0.113.9"], usize::MAX),
        (&[""], 1),
        (&["203.0.113.9, unknown"], 1),
        (&["203.0.113.9,"], 1),
        (&["203.0.113.9, 1' OR '1'='1"], 1),
        (&["203.0.113.9", "\u{e9}"], 1),
    ] {
        assert_eq!(
            client_address(&request(lines), proxies),
            CONNECTED,
            "{lines:?}"
        );
    }
}

#[test]
fn a_proxy_may_write_the_port_too() {
    for (line, address) in [
        ("203.0.113.7:4321", "203.0.113.7"),
        ("[2001:db8::7]:4321", "2001:db8::7"),
        (" 2001:DB8::7 ", "2001:db8::7"),
    ] {
        assert_eq!(client_address(&request(&[line]), 1), address);
    }
}

#[test]
fn bytes_that_are_no_text_stand_in_their_own_place() {
    let mut request = request(&[]);
    let value = HeaderValue::from_bytes(b"\xff\xe9, 203.0.113.9").unwrap();
    request.headers_mut().append(FORWARDED_FOR, value);
    assert_eq!(client_address(&request, 1), "203.0.113.9");
}

#[tokio::test]
async fn a_body_that_does_not_end_is_not_waited_for() {
    let endless = futures::stream::pending::<Result<Bytes, std::io::Error>>();
    let read = body_within(Body::from_stream(endless), Duration::from_millis(10)).await;
    let error = read.expect_err("it has no end");
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.message.contains("in time"), "{}", error.message);
}
