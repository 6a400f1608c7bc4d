use super::*;

mod laws;

fn guard() -> LinkGuard {
    let text = "See [a](./a.md), <https://ok.org/x>, https://ok.org and https://ok.org/y_(z). Mail a@ok.org. https://ok.org/it's www.ok.org";
    let pages = ["/docs/a", "/docs/b/"].map(str::to_owned);
    LinkGuard::new(AllowedLinks::new(
        [text].into_iter(),
        pages.into_iter(),
        "/docs/",
    ))
}

/// Filters a text in pieces; `⟦n⟧` stands for a citation marker.
fn filter(pieces: &[&str]) -> String {
    let mut guard = guard();
    let mut out = String::new();
    for piece in pieces {
        for (place, part) in piece.split('⟦').enumerate() {
            let text = match part.split_once('⟧') {
                Some((n, text)) if place > 0 => {
                    out.push_str(&guard.marker());
                    out.push_str(&format!("[{n}]"));
                    text
                }
                _ => part,
            };
            out.push_str(&guard.push(text));
            assert!(guard.held.len() <= 2 * BOUND);
        }
    }
    out.push_str(&guard.finish());
    out
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let whole = filter(&[text]);
        assert_eq!(whole, *expected, "{text:?}");
        let in_marker = |at: usize| text[..at].rfind('⟦') > text[..at].rfind('⟧');
        let cuts: Vec<usize> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at) && !in_marker(*at))
            .collect();
        for at in &cuts {
            let (before, behind) = text.split_at(*at);
            assert_eq!(filter(&[before, behind]), whole, "{text:?} cut at {at}");
        }
        let characters: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        assert_eq!(filter(&characters), whole, "{text:?} in characters");
        if !text.contains('⟦') {
            assert_eq!(filter(&[&whole]), whole, "{text:?} twice");
        }
    }
}

#[test]
fn links_keep_their_text_and_lose_targets_that_are_not_allowed() {
    check(&[
        (
            "[a](./a.md), [b](/docs/b#c) [c](https://ok.org/x \"a title\")",
            "[a](./a.md), [b](/docs/b#c) [c](https://ok.org/x \"a title\")",
        ),
        (
            "[a](<https://ok.org/x>) [b]( /docs/a\n'http://evil.org' ) c",
            "[a](https://ok.org/x) [b](/docs/a) c",
        ),
        ("[a](https://evil.org) b", "[a] b"),
        ("[a](https://evil.org/(x(y)z)\\)) b", "[a] b"),
        ("[a](<https://evil.org/x y) z>) b", "[a] b"),
        ("[a](\nhttps://evil.org\n\"a\ntitle)\"\n) b", "[a] b"),
        ("[a](evil \"t\") [b](evil (t)) c", "[a] [b] c"),
        (
            "[a](javascript:alert('x')) [b](data:text/html;x) [c](//evil.org) [d](/\\evil.org) [e](#https://evil) [f](#ok)",
            "[a] [b] [c] [d] [e] [f](#ok)",
        ),
        (
            "[a [b](https://evil.org) c](https://evil.org) d",
            "[a [b] c] d",
        ),
        (
            "[https://ok.org/x](https://evil.org) [https://ok.org/x](https://ok.org/x)",
            "[https://ok.org/x] [https://ok.org/x](https://ok.org/x)",
        ),
        ("[x](https://ev[y](https://evil.org)il.org) z", "[x] z"),
        (
            "[a](see above) [b](optional) f(x) [c] (d)",
            "[a](see above) [b] f(x) [c] (d)",
        ),
        (
            "[a](/evil b) [a](https://evil.org b) [a](e <b>f</b>) [a](",
            "[a] [a] [a] [a]",
        ),
        ("[a](\n\nb) c", "[a]\n\nb) c"),
    ]);
}

#[test]
fn images_are_not_fetched() {
    check(&[
        (
            "![a](https://evil.org/x.png) ![b](./a.md) !",
            "[a] [b](./a.md) !",
        ),
        ("![a][i] wow! [x] !<b></b>[c]", "[a][i] wow! [x] ! [c]"),
    ]);
}

#[test]
fn a_marker_with_a_target_is_a_link() {
    check(&[
        ("a⟦1⟧(https://evil.org) b", "a[1] b"),
        ("a⟦1⟧(/docs/a) b", "a[1](/docs/a) b"),
        ("a⟦1⟧(see above) b", "a[1](see above) b"),
        ("a !⟦1⟧(https://evil.org) b", "a ! [1] b"),
        (
            "Done.\n\n⟦1⟧: https://evil.org\n⟦2⟧: <https://evil.org> 'x'\n⟦1⟧: a b",
            "Done.\n\n[1]\n[2]\n[1]: a b",
        ),
        (
            "growth⟦1⟧ of `x`⟦2⟧, https://ok.org/x⟦1⟧.",
            "growth[1] of `x`[2], https://ok.org/x [1].",
        ),
        (
            "[a](https://evil⟦1⟧.org) <b⟦1⟧> java⟦1⟧script:x htt⟦1⟧p://evil.org",
            "[a][1].org) < b[1]> java[1]script:x htt[1]p:",
        ),
    ]);
}

#[test]
fn definitions_are_dropped() {
    check(&[
        ("a\n\n[x]: https://evil.org \"t\"\nb", "a\n\n\nb"),
        (
            "[x]: <https://evil.org>\n   [y]:\n   /evil\n   'a title'\nb",
            "\n   \nb",
        ),
        (
            "> [x]: /evil\n\n- [y]: /evil\n1. [z]: /evil",
            "> \n\n- \n1. ",
        ),
        (
            "[x]: /docs/a 'b'\n[Note]: a b c\n[a\\]b]: /evil\n",
            "[x]: /docs/a\n[Note]: a b c\n\n",
        ),
        ("[a\nb]: /evil\n[x]: /evil <b></b>\n", "[a\nb]\n\n"),
        ("see [x]: word", "see [x]: word"),
    ]);
}

#[test]
fn bare_addresses_are_dropped() {
    check(&[
        (
            "See https://ok.org/x, (https://ok.org/y_(z)). **https://ok.org/x**",
            "See https://ok.org/x, (https://ok.org/y_(z)). **https://ok.org/x**",
        ),
        (
            "See https://evil.org/x, (http://evil.org). **FTP://evil.org**",
            "See , (). ****",
        ),
        (
            "https://ok.org/x/y https://ok.org@evil.org https://ok.org/x)@evil.org",
            "  ",
        ),
        (
            "https:\\\\evil.org http:/evil.org http\\:\\/\\/evil.org xhttp://evil.org",
            "   x",
        ),
        (
            "www.evil.org WWW.evil.org //evil.org /\\evil.org \\\\evil.org x://evil.org (//u@evil.org)",
            "     x: ()",
        ),
        (
            "javascript:alert(1) **JavaScript:** vbscript:x DATA:text/html,x {msg.data:.2f} data: x",
            " **JavaScript:**   {msg.data:.2f} data: x",
        ),
        (
            "mail x@evil.org, a@ok.org, mailto:x@evil.org @x x@",
            "mail x, a@ok.org,  @x x@",
        ),
        (
            "http:// a http://) // b //c and//or.d h ht http www. w",
            "http:// a http://) // b //c and//or.d h ht http www. w",
        ),
        (
            "http&#58;//evil.org http&colon;//evil.org &#104;ttp://evil.org",
            "http http ttp:",
        ),
        ("ht\u{200b}tp://evil.org ht\u{1b}[0mtp://evil.org", " "),
    ]);
}

#[test]
fn what_only_some_renderers_link_is_dropped_too() {
    check(&[
        (
            "See _www.evil.org/x_ (_www.evil.org) a_www.evil.org x.www.evil.org xwww.evil.org",
            "See __ (_) a_ x. x",
        ),
        (
            "www.-]@evil.org/x www.-\"@evil.org www.[x]@evil.org www.-.evil.org www.~evil.org [www.\u{a0}@evil.org",
            "     [www. \u{a0}@evil.org",
        ),
        (
            "www.⟦1⟧@evil.org www.<b></b>-.evil.org www.<@evil.org",
            "www. [1]@evil.org www. -.evil.org www. <@evil.org",
        ),
        (
            "https://\"@evil.org/x https://'@evil.org https://`@evil.org https://>@evil.org http://-\"@evil.org",
            "    ",
        ),
        (
            "https://ok.org\"@evil.org https://ok.org'.evil.org https://ok.org>x",
            "  ",
        ),
        (
            "https://ok.org\"<b></b>@evil.org https://ok.org\"⟦1⟧@evil.org [https://ok.org<@evil.org https://ok.org\u{3000}x",
            "https://ok.org\" @evil.org https://ok.org\" [1]@evil.org [https://ok.org <@evil.org https://ok.org \u{3000}x",
        ),
        (
            "//\"@evil.org //a+b.evil.org //€.evil.org //evil.org-www.a //evil.org:1@x //1.131844/x //-@evil.org //'.evil.org#a@x",
            "       ",
        ),
        (
            "x@a_b.evil.org x@a\\_b.evil.org x@a+b.evil.org x@a&#95;b.evil.org x@a&lowbar;b.evil.org x@€.evil.org",
            "x x x x@a b.evil.org x@a b.evil.org x",
        ),
        (
            "support=@evil.org a&@evil.org info'@evil.org x\"@evil.org x\\@evil.org *@evil.org =@www.evil.org a@ok.org|evil.org a@ok.org。x",
            "support= @evil.org a& @evil.org info' @evil.org x\" @evil.org x\\ @evil.org * @evil.org = @ a@ok.org |evil.org a@ok.org 。x",
        ),
        (
            "www.`<b>` https://ok.org/x`<b>` <www.ok.org>@evil.org https://ok.org `<b>`",
            "www. `<b>` https://ok.org/x `<b>` @evil.org https://ok.org `<b>`",
        ),
    ]);
}

#[test]
fn what_only_resembles_an_address_stays() {
    let texts = [
        "(https://ok.org), \"https://ok.org/x\", 'https://ok.org/x'; **https://ok.org** _https://ok.org/x_ https://ok.org/it's",
        "\"a@ok.org\", **a@ok.org** mail:a@ok.org [a@ok.org] ~~a@ok.org~~ |a@ok.org| a@ok.org。",
        "@app.route (@pytest.fixture) [@a.bc] \"@types/node\" '@site/docs' @docusaurus/theme-common {@link x} a@b x @ y.z",
        "docs/intro.md src/lib.rs node.js Cargo.toml and/or 1.2/3 10.0.0.0/24 ros2_www __init__ www a.www ww.w",
        "//c // @param //@ts-ignore //a.b /opt/ros user@host:~/x.sh robot@pi: HEAD@{1}",
        "```python\n@app.route(\"/x\")\nx = a@b.c\nurl = \"https://ok.org/x\" + '<b>'\n```\n`@app.route` **`@a.bc`**",
    ];
    check(&texts.map(|text| (text, text)));
}

#[test]
fn what_is_taken_out_of_a_word_makes_no_other_address() {
    check(&[
        (
            "[https://ok.org/x](https://evil.org)@evil.org",
            "[https://ok.org/x] @evil.org",
        ),
        ("](https://ok.org/x)@evil.org a", "]@evil.org a"),
        (
            "[a [b](https://ok.org/x) c](https://ok.org/x)@evil.org",
            "[a [b](https://ok.org/x) c]@evil.org",
        ),
        ("`[`](https://ok.org/x)@evil.org", "`[`]@evil.org"),
        ("https://ok.org/x<b></b>@evil.org", "https://ok.org/x"),
        ("x<b></b>www.evil.org <~@a<b></b>>", "x <~@a >"),
        ("[x]: </docs/a>\n```\n<b>", "[x]: /docs/a\n```\n<b>"),
        ("- ```\n⟦1⟧<b>", "- ```\n[1]"),
        ("[x]: https://ok.org/x⟦1⟧ a@ok.org⟦1⟧", "[1] a@ok.org [1]"),
    ]);
}

#[test]
fn autolinks_and_html_are_dropped() {
    check(&[
        (
            "<https://ok.org/x> <a@ok.org> <https://evil.org> <x@evil.org> <javascript:x>",
            "<https://ok.org/x> <a@ok.org>   ",
        ),
        (
            "a <b>c</b> d<br/>e <IMG\nSRC=x onerror='>'> f",
            "a c d e  f",
        ),
        (
            "<a title=\"x > y\" href=z>b</a> <svg/onload=x> <!DOCTYPE x> <?php ?>",
            "b   ",
        ),
        ("a <!-- b\n\n<c> --> d <!--> e <!---> f", "a  d  e  f"),
        (
            "a < b, a<b, i <n; x <y. Then a <3 </3 <",
            "a < b, a< b, i < n; x < y. Then a <3 < /3 <",
        ),
        ("a <img src=x\n\nb <img src=y", "a \n\nb "),
        ("a <!-- b <c>", "a "),
        ("H<sub>2</sub>O a<br>b <|im_end|> <|x", "H 2 O a b  <|x"),
        (
            "<scr<b>ipt>x</scr<b>ipt> <<i></i>b> java<!-- -->script:x",
            "< scr ipt>x< /scr ipt> < b> java script:x",
        ),
        (
            "[<i></i>9] [9<i></i>] &lt;b&gt; don&#39;t &#60;",
            "[ 9] [9 ] &lt;b&gt; don&#39;t &#60;",
        ),
    ]);
}

#[test]
fn code_keeps_all_but_addresses() {
    check(&[
        (
            "`Vec<T>` ``a ` <b>`` `[x](y)` `curl https://evil.org/x | sh`",
            "`Vec<T>` ``a ` <b>`` `[x](y)` `curl  | sh`",
        ),
        (
            "```html\n<a href=\"https://evil.org\">[x](y)\n//a.bc\n```\n<b>",
            "```html\n<a href=\"\">[x](y)\n//a.bc\n```\n",
        ),
        ("~~~\n```\n<T>\n~~~\n<b>", "~~~\n```\n<T>\n~~~\n"),
        ("````\n```\n<T>\n````\n<b>", "````\n```\n<T>\n````\n"),
        (
            "1. a\n   ```\n   <T>\n   ```\n   <b>\n- - ```\n    <T>\n    ```\n<b>",
            "1. a\n   ```\n   <T>\n   ```\n   \n- - ```\n    <T>\n    ```\n",
        ),
        (
            "1. a\n    ```\n    <T>\n    ```\n2. b\n    ```\n    <U>\n",
            "1. a\n    ```\n    <T>\n    ```\n2. b\n    ```\n    <U>\n",
        ),
        ("```\nhttps://evil.org```\n<T>", "```\n```\n"),
        (
            "```\n``` https://evil.org\n<T>\n```\n<b>",
            "```\n``` …\n<T>\n```\n",
        ),
        (
            "`https://evil.org` `https://ok.org/x`",
            "` ` `https://ok.org/x`",
        ),
    ]);
}

#[test]
fn what_only_looks_like_code_is_text() {
    check(&[
        (
            "the 90`s <b>are</b> over\n`<T>`\n\n`<T>`",
            "the 90`s are over\n` `\n\n`<T>`",
        ),
        ("`a\nb` <i> `", "`a\nb`  `"),
        ("\\`<b>`", "\\` `"),
        ("~`<b>` ~x `~<b>`", "~` ` ~x `~`"),
        ("*``*<b>``", "*``*``"),
        ("| ` | <b> ` |", "| ` |  ` |"),
        ("    ```\n<b>", "    ```\n"),
        ("text\n2. ```\n   <b>", "text\n2. ```\n   "),
        ("- ```\n<b>", "- ```\n"),
        ("\u{a0}```\n    <b>", "\u{a0}```\n    "),
        ("a\n```x ![a](//evil.org) <b>", "a\n```x [a] "),
        ("``` ``` [a](https://evil.org)\n<b>", "``` ``` [a]\n"),
        ("> ```\n> <b>\n> ```\n\n<b>", "> ```\n> \n> ```\n\n"),
        ("- a\nb\n  ```\n<b>\n  ```\n<b>", "- a\nb\n  ```\n\n  ```\n"),
        ("text\n* \n     ```\n     <b>", "text\n* \n     ```\n     "),
    ]);
}

#[test]
fn what_is_too_long_is_dropped_to_the_end_of_its_word() {
    let long = "a".repeat(2 * BOUND);
    let cases = [
        (format!("x https://evil.org/{long} y"), "x  y"),
        (format!("[x](https://evil.org/{long}) y"), "[x] y"),
        (format!("x <a href=\"{long}\"> y"), "x \"> y"),
        (format!("x //{long}.org y"), "x  y"),
        (format!("x a@{long}.org y"), "x a y"),
        (format!("x `{long}` y <b>"), &format!("x `{long}` y ")),
        (format!("\n[x]: /{long} y"), "\n y"),
    ];
    for (text, expected) in &cases {
        assert_eq!(filter(&[text]), *expected);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(filter(&pieces), *expected);
        assert_eq!(filter(&[expected]), *expected);
    }
}

#[test]
fn ordinary_words_are_shown_at_once() {
    let mut guard = guard();
    let text = "Nodes talk over topics (1 < 2); see chapter [3], the path /opt/ros and 3/4 of `ros2 run`: 10:30, a_b@c";
    let mut shown = 0;
    let mut longest = 0;
    for c in text.chars() {
        shown += guard.push(c.encode_utf8(&mut [0; 4])).len();
        let held = guard.held.clone();
        let waits = held.starts_with('`') || held.starts_with('@');
        longest = longest.max(if waits { 0 } else { held.len() });
    }
    assert!(longest <= 2, "{longest}");
    assert_eq!(shown + guard.finish().len(), text.len());
}
