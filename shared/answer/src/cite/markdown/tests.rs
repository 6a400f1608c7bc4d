use super::*;
use crate::cite::AllowedLinks;

mod laws;

fn allowed() -> AllowedLinks {
    let text = "See [a](./a.md), <https://ok.org/x>, https://ok.org and https://ok.org/y_(z). Mail a@ok.org. https://ok.org/it's www.ok.org";
    let pages = ["/docs/a", "/docs/b/"].map(str::to_owned);
    AllowedLinks::new([text].into_iter(), pages.into_iter(), "/docs/")
}

/// Writes a text that arrives in these pieces; `⟦n⟧` is a citation marker.
fn written(pieces: &[&str]) -> String {
    let mut writer = MarkdownWriter::new(allowed());
    let mut shown = Vec::new();
    for piece in pieces {
        for (place, part) in piece.split('⟦').enumerate() {
            let text = match part.split_once('⟧') {
                Some((n, text)) if place > 0 => {
                    shown.extend(writer.marker(n.parse().unwrap()));
                    text
                }
                _ => part,
            };
            shown.extend(writer.push(text));
        }
    }
    shown.extend(writer.finish());
    let text = |cited| match cited {
        Cited::Text(text) | Cited::Other(text) => text,
        Cited::Marker(n) => format!("[{n}]"),
    };
    shown.into_iter().map(text).collect()
}

fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let whole = written(&[text]);
        if whole != *expected {
            wrong.push(format!("{text:?}\n  {expected:?}\n  {whole:?}"));
        }
        let in_marker = |at: usize| text[..at].rfind('⟦') > text[..at].rfind('⟧');
        let cuts: Vec<usize> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at) && !in_marker(*at))
            .collect();
        for at in &cuts {
            let (before, behind) = text.split_at(*at);
            assert_eq!(written(&[before, behind]), whole, "{text:?} cut at {at}");
        }
        let characters: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        assert_eq!(written(&characters), whole, "{text:?} in characters");
        if !text.contains('⟦') && written(&[&whole]) != whole {
            wrong.push(format!(
                "TWICE {text:?}\n  {whole:?}\n  {:?}",
                written(&[&whole])
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn links_keep_their_text_and_lose_targets_that_are_not_allowed() {
    check(&[
        (
            "[a](./a.md), [b](/docs/b#c) [c](https://ok.org/x \"a title\")",
            "a, [b](/docs/b#c) [c](https://ok.org/x)",
        ),
        (
            "[a](<https://ok.org/x>) [b]( /docs/a\n'http://evil.org' ) c",
            "[a](https://ok.org/x) \\[b\\]( /docs/a\n'…' ) c",
        ),
        ("[a](https://evil.org) b", "a b"),
        ("[a](https://evil.org/(x(y)z)\\)) b", "a b"),
        ("[a](<https://evil.org/x y) z>) b", "\\[a\\](&lt;… y) z>) b"),
        (
            "[a](\nhttps://evil.org\n\"a\ntitle)\"\n) b",
            "\\[a\\](\n…\n\"a\ntitle)\"\n) b",
        ),
        ("[a](evil \"t\") [b](evil (t)) c", "a b c"),
        (
            "[a](javascript:alert('x')) [b](data:text/html;x) [c](//evil.org) [d](/\\evil.org) [e](#https://evil) [f](#ok)",
            "a b c d e f",
        ),
        (
            "[a [b](https://evil.org) c](https://evil.org) d",
            "\\[a b c\\](…) d",
        ),
        (
            "[https://ok.org/x](https://evil.org) [https://ok.org/x](https://ok.org/x)",
            "<https://ok.org/x> [`https://ok.org/x`](https://ok.org/x)",
        ),
        ("[x](https://ev[y](https://evil.org)il.org) z", "x z"),
        (
            "[a](see above) [b](optional) f(x) [c] (d)",
            "\\[a\\](see above) b f(x) \\[c\\] (d)",
        ),
        (
            "[a](/evil b) [a](https://evil.org b) [a](e <b>f</b>) [a](",
            "\\[a\\](/evil b) \\[a\\](… b) \\[a\\](e &lt;b>f&lt;/b>) \\[a\\](",
        ),
        ("[a](\n\nb) c", "\\[a\\](\n\nb) c"),
    ]);
}

#[test]
fn images_are_not_fetched() {
    check(&[
        ("![a](https://evil.org/x.png) ![b](./a.md) !", "a b !"),
        (
            "![a][i] wow! [x] !<b></b>[c]",
            "!\\[a\\]\\[i\\] wow! \\[x\\] !&lt;b>&lt;/b>\\[c\\]",
        ),
    ]);
}

#[test]
fn a_marker_with_a_target_is_a_link() {
    check(&[
        ("a⟦1⟧(https://evil.org) b", "a[1] b"),
        ("a⟦1⟧(/docs/a) b", "a[1] b"),
        ("a⟦1⟧(see above) b", "a[1]\\(see above) b"),
        ("a !⟦1⟧(https://evil.org) b", "a [1] b"),
        (
            "Done.\n\n⟦1⟧: https://evil.org\n⟦2⟧: <https://evil.org> 'x'\n⟦1⟧: a b",
            "Done.\n\n[1]\\: a b",
        ),
        (
            "growth⟦1⟧ of `x`⟦2⟧, https://ok.org/x⟦1⟧.",
            "growth[1] of `x`[2], <https://ok.org/x>[1].",
        ),
        (
            "[a](https://evil⟦1⟧.org) <b⟦1⟧> java⟦1⟧script:x htt⟦1⟧p://evil.org",
            "a &lt;b[1]> java[1]script:x htt[1]…",
        ),
    ]);
}

#[test]
fn definitions_are_dropped() {
    check(&[
        ("a\n\n[x]: https://evil.org \"t\"\nb", "a\n\nb"),
        (
            "[x]: <https://evil.org>\n   [y]:\n   /evil\n   'a title'\nb",
            "b",
        ),
        ("> [x]: /evil\n\n- [y]: /evil\n1. [z]: /evil", ""),
        (
            "[x]: /docs/a 'b'\n[Note]: a b c\n[a\\]b]: /evil\n",
            "\\[Note\\]: a b c\n\\[a\\]b\\]: /evil",
        ),
        (
            "[a\nb]: /evil\n[x]: /evil <b></b>\n",
            "\\[x\\]: /evil &lt;b>&lt;/b>",
        ),
        ("see [x]: word", "see \\[x\\]: word"),
    ]);
}

#[test]
fn bare_addresses_are_dropped() {
    check(&[
        (
            "See https://ok.org/x, (https://ok.org/y_(z)). **https://ok.org/x**",
            "See <https://ok.org/x>, ([`https://ok.org/y_(z)`](https://ok.org/y_%28z%29)). **<https://ok.org/x>**",
        ),
        (
            "See https://evil.org/x, (http://evil.org). **FTP://evil.org**",
            "See …, (…). **…**",
        ),
        (
            "https://ok.org/x/y https://ok.org@evil.org https://ok.org/x)@evil.org",
            "… … …",
        ),
        (
            "https:\\\\evil.org http:/evil.org http\\:\\/\\/evil.org xhttp://evil.org",
            "… … … …",
        ),
        (
            "www.evil.org WWW.evil.org //evil.org /\\evil.org \\\\evil.org x://evil.org (//u@evil.org)",
            "… … … … \\evil.org … (…)",
        ),
        (
            "javascript:alert(1) **JavaScript:** vbscript:x DATA:text/html,x {msg.data:.2f} data: x",
            "… **JavaScript:** … … {msg.data:.2f} data: x",
        ),
        (
            "mail x@evil.org, a@ok.org, mailto:x@evil.org @x x@",
            "mail …, `a@ok.org`, … @x x@",
        ),
        (
            "http:// a http://) // b //c and//or.d h ht http www. w",
            "`http://` a `http://`) // b //c and//or.d h ht http `www`. w",
        ),
        (
            "http&#58;//evil.org http&colon;//evil.org &#104;ttp://evil.org",
            "… … …",
        ),
        ("ht\u{200b}tp://evil.org ht\u{1b}[0mtp://evil.org", "… …"),
    ]);
}

#[test]
fn what_only_some_renderers_link_is_dropped_too() {
    check(&[
        (
            "See _www.evil.org/x_ (_www.evil.org) a_www.evil.org x.www.evil.org xwww.evil.org",
            "See *…* (\\_…) a_… x.… x…",
        ),
        (
            "www.-]@evil.org/x www.-\"@evil.org www.[x]@evil.org www.-.evil.org www.~evil.org [www.\u{a0}@evil.org",
            "… … … … … \\[`www`.\u{a0}@evil.org",
        ),
        (
            "www.⟦1⟧@evil.org www.<b></b>-.evil.org www.<@evil.org",
            "… `www`.&lt;b>&lt;/b>-.evil.org `www`.&lt;@evil.org",
        ),
        (
            "https://\"@evil.org/x https://'@evil.org https://`@evil.org https://>@evil.org http://-\"@evil.org",
            "… … … … …",
        ),
        (
            "https://ok.org\"@evil.org https://ok.org'.evil.org https://ok.org>x",
            "… … …",
        ),
        (
            "https://ok.org\"<b></b>@evil.org https://ok.org\"⟦1⟧@evil.org [https://ok.org<@evil.org https://ok.org\u{3000}x",
            "<https://ok.org>\"&lt;b>&lt;/b>@evil.org <https://ok.org>… \\[<https://ok.org>&lt;@evil.org <https://ok.org>\u{3000}x",
        ),
        (
            "//\"@evil.org //a+b.evil.org //€.evil.org //evil.org-www.a //evil.org:1@x //1.131844/x //-@evil.org //'.evil.org#a@x",
            "… … … … … … … …",
        ),
        (
            "x@a_b.evil.org x@a\\_b.evil.org x@a+b.evil.org x@a&#95;b.evil.org x@a&lowbar;b.evil.org x@€.evil.org",
            "… … … … … …",
        ),
        (
            "support=@evil.org a&@evil.org info'@evil.org x\"@evil.org x\\@evil.org *@evil.org =@www.evil.org a@ok.org|evil.org a@ok.org。x",
            "… … … … … … =@… `a@ok.org`|evil.org `a@ok.org`。x",
        ),
        (
            "www.`<b>` https://ok.org/x`<b>` <www.ok.org>@evil.org https://ok.org `<b>`",
            "`www`.`<b>` <https://ok.org/x>`<b>` &lt;… <https://ok.org> `<b>`",
        ),
    ]);
}

#[test]
fn what_only_resembles_an_address_stays() {
    let texts = [
        "@app.route (@pytest.fixture) \"@types/node\" '@site/docs' @docusaurus/theme-common {@link x} a@b x @ y.z",
        "docs/intro.md src/lib.rs node.js Cargo.toml and/or 1.2/3 10.0.0.0/24 ros2_www www a.www ww.w",
        "//c // @param //@ts-ignore //a.b /opt/ros user@host:/x.sh robot@pi: HEAD@{1}",
        "```python\n@app.route(\"/x\")\nx = a@b.c\nurl = \"https://ok.org/x\" + '<b>'\n```\n\n`@app.route` **`@a.bc`**",
    ];
    check(&texts.map(|text| (text, text)));
    check(&[
        (
            "(https://ok.org), 'https://ok.org/x'; _https://ok.org/x_ https://ok.org/it's",
            "(<https://ok.org>), '<https://ok.org/x>'; *<https://ok.org/x>* `https://ok.org/it's`",
        ),
        (
            "\"a@ok.org\", mail:a@ok.org [a@ok.org] |a@ok.org| a@ok.org。",
            "\"`a@ok.org`\", mail:`a@ok.org` \\[`a@ok.org`\\] |`a@ok.org`| `a@ok.org`。",
        ),
    ]);
}

#[test]
fn what_is_taken_out_of_a_word_makes_no_other_address() {
    check(&[
        ("[https://ok.org/x](https://evil.org)@evil.org", "…"),
        ("](https://ok.org/x)@evil.org a", "\\](… a"),
        (
            "[a [b](https://ok.org/x) c](https://ok.org/x)@evil.org",
            "\\[a [b](https://ok.org/x) c\\](…",
        ),
        ("`[`](https://ok.org/x)@evil.org", "`[`\\](…"),
        (
            "https://ok.org/x<b></b>@evil.org",
            "<https://ok.org/x>&lt;b>&lt;/b>@evil.org",
        ),
        (
            "x<b></b>www.evil.org <~@a<b></b>>",
            "x&lt;b>&lt;/b>… &lt;\\~@a&lt;b>&lt;/b>>",
        ),
        ("[x]: </docs/a>\n```\n<b>", "```\n<b>\n```"),
        ("- ```\n⟦1⟧<b>", "- ```\n  [1]<b>\n  ```"),
        (
            "[x]: https://ok.org/x⟦1⟧ a@ok.org⟦1⟧",
            "\\[x\\]: <https://ok.org/x>[1] `a@ok.org`[1]",
        ),
    ]);
}

#[test]
fn autolinks_and_html_are_dropped() {
    check(&[
        (
            "<https://ok.org/x> <a@ok.org> <https://evil.org> <x@evil.org> <javascript:x>",
            "<https://ok.org/x> `a@ok.org` … … …",
        ),
        (
            "a <b>c</b> d<br/>e <IMG\nSRC=x onerror='>'> f",
            "a &lt;b>c&lt;/b> d\\\ne &lt;IMG\nSRC=x onerror='>'> f",
        ),
        (
            "<a title=\"x > y\" href=z>b</a> <svg/onload=x> <!DOCTYPE x> <?php ?>",
            "&lt;a title=\"x > y\" href=z>b&lt;/a> &lt;svg/onload=x> &lt;!DOCTYPE x> &lt;?php ?>",
        ),
        (
            "a <!-- b\n\n<c> --> d <!--> e <!---> f",
            "a &lt;!-- b\n\n&lt;c> --> d &lt;!--> e &lt;!---> f",
        ),
        (
            "a < b, a<b, i <n; x <y. Then a <3 </3 <",
            "a < b, a&lt;b, i &lt;n; x &lt;y. Then a <3 &lt;/3 <",
        ),
        (
            "a <img src=x\n\nb <img src=y",
            "a &lt;img src=x\n\nb &lt;img src=y",
        ),
        ("a <!-- b <c>", "a &lt;!-- b &lt;c>"),
        (
            "H<sub>2</sub>O a<br>b <|im_end|> <|x",
            "H&lt;sub>2&lt;/sub>O a\\\nb &lt;|im_end|> &lt;|x",
        ),
        (
            "<scr<b>ipt>x</scr<b>ipt> <<i></i>b> java<!-- -->script:x",
            "&lt;scr&lt;b>ipt>x&lt;/scr&lt;b>ipt> &lt;&lt;i>&lt;/i>b> java&lt;!-- -->script:x",
        ),
        (
            "[<i></i>9] [9<i></i>] &lt;b&gt; don&#39;t &#60;",
            "\\[&lt;i>&lt;/i>9\\] \\[9&lt;i>&lt;/i>\\] &lt;b> don't <",
        ),
    ]);
}

#[test]
fn code_keeps_all_but_addresses() {
    check(&[
        (
            "`Vec<T>` ``a ` <b>`` `[x](y)` `curl https://evil.org/x | sh`",
            "`Vec<T>` ``a ` <b>`` `[x](y)` `curl … | sh`",
        ),
        (
            "```html\n<a href=\"https://evil.org\">[x](y)\n//a.bc\n```\n<b>",
            "```html\n<a href=\"…\">[x](y)\n//a.bc\n```\n\n&lt;b>",
        ),
        ("~~~\n```\n<T>\n~~~\n<b>", "~~~\n```\n<T>\n~~~\n\n&lt;b>"),
        (
            "````\n```\n<T>\n````\n<b>",
            "````\n```\n<T>\n````\n\n&lt;b>",
        ),
        (
            "1. a\n   ```\n   <T>\n   ```\n   <b>\n- - ```\n    <T>\n    ```\n<b>",
            "1. a\n   ```\n   <T>\n   ```\n\n   &lt;b>\n- - ```\n    <T>\n    ```\n\n&lt;b>",
        ),
        (
            "1. a\n    ```\n    <T>\n    ```\n2. b\n    ```\n    <U>\n",
            "1. a\n   ```\n   <T>\n   ```\n2. b\n   ```\n   <U>\n   ```",
        ),
        ("```\nhttps://evil.org```\n<T>", "```\n…```\n<T>\n```"),
        (
            "```\n``` https://evil.org\n<T>\n```\n<b>",
            "```\n``` …\n<T>\n```\n\n&lt;b>",
        ),
        (
            "`https://evil.org` `https://ok.org/x`",
            "`…` `https://ok.org/x`",
        ),
    ]);
}

#[test]
fn what_only_looks_like_code_is_text() {
    check(&[
        (
            "the 90`s <b>are</b> over\n`<T>`\n\n`<T>`",
            "the 90`s <b>are</b> over `&lt;T>\\`\n\n`<T>`",
        ),
        ("`a\nb` <i> `", "`a b` &lt;i> \\`"),
        ("\\`<b>`", "\\`&lt;b>\\`"),
        ("~`<b>` ~x `~<b>`", "\\~`<b>` \\~x `~<b>`"),
        ("*``*<b>``", "\\*`*<b>`"),
        ("| ` | <b> ` |", "\\| `| <b>` |"),
        ("    ```\n<b>", "```\n<b>\n```"),
        ("text\n2. ```\n   <b>", "text\n2\\. \\`\\`\\`\n&lt;b>"),
        ("- ```\n<b>", "- ```\n  <b>\n  ```"),
        ("\u{a0}```\n    <b>", "\u{a0}\\`\\`\\`\n&lt;b>"),
        ("a\n```x ![a](//evil.org) <b>", "a\n\n```x\n```"),
        ("``` ``` [a](https://evil.org)\n<b>", "a\n&lt;b>"),
        (
            "> ```\n> <b>\n> ```\n\n<b>",
            "> ```\n> <b>\n> ```\n\n&lt;b>",
        ),
        (
            "- a\nb\n  ```\n<b>\n  ```\n<b>",
            "- a\n  b\n  ```\n  <b>\n  ```\n\n&lt;b>",
        ),
        ("text\n* \n     ```\n     <b>", "text\n\\*\n\n```\n<b>\n```"),
    ]);
}

#[test]
fn the_rest_of_an_endless_word_is_dropped() {
    let long = "a".repeat(2 * MAX_WORD_BYTES);
    let cases = [
        (format!("x https://evil.org/{long} y"), "x … y"),
        (format!("[x](https://evil.org/{long}) y"), "\\[x\\](… y"),
        (
            format!("x <a href=\"//evil.org/{long}\"> y"),
            "x &lt;a href=\"… y",
        ),
        (format!("x https://evil.org/{long}\ny"), "x …\ny"),
    ];
    for (text, expected) in &cases {
        assert_eq!(written(&[text]), *expected);
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(written(&characters), *expected);
    }
    let words = "中文".repeat(MAX_WORD_BYTES);
    assert_eq!(written(&[&words]), words);
    let open = format!("**{}", "a b ".repeat(MAX_HELD_BYTES));
    assert_eq!(written(&[&open]), format!("\\*\\*{}", open[2..].trim_end()));
}

#[test]
fn words_are_shown_as_they_come() {
    let mut writer = MarkdownWriter::new(allowed());
    let text = "Nodes talk over `topics` (1 < 2); see **chapter** 3, the path /opt/ros and 3/4 of `ros2 run`: 10:30, a_b x";
    let mut shown = String::new();
    for (at, c) in text.char_indices() {
        for cited in writer.push(c.encode_utf8(&mut [0; 4])) {
            if let Cited::Text(text) | Cited::Other(text) = cited {
                shown.push_str(&text);
            }
        }
        let whole_words = text[..at + c.len_utf8()]
            .rsplit_once(' ')
            .map_or("", |(words, _)| words);
        let is_open = whole_words.matches('`').count() % 2 == 1;
        assert!(is_open || shown == whole_words, "{shown:?} {whole_words:?}");
    }
}
