//! Code in the shapes of several highlighters.

use super::generator_tests::{lines, page};

fn check(html: &str, expected: &[&str]) {
    let page = page(&format!("<main>{html}</main>"));
    assert_eq!(lines(&page), expected, "{html}");
}

#[test]
fn code_has_no_numbers_of_lines() {
    for (html, expected) in [
        // Doxygen.
        (
            "<div class=fragment><div class=line><a id=l1></a><span class=lineno>    9</span>&#160;<span class=keyword>int</span> main() {</div>\n<div class=line><span class=lineno>   10</span>&#160;</div>\n\
            <div class=foldopen><div class=line><span class=lineno>   11</span>&#160;  return 0;</div>\n</div><div class=ttc><div class=ttname>main</div></div>\n</div><p>After</p>",
            &[": int main() {\n\n  return 0;", "After"][..],
        ),
        (
            "<div class=fragment><div class=line>a</div><div class=line>  b</div></div>",
            &[": a\n  b"],
        ),
        // Pygments, in the code and in a table, with a title.
        (
            "<div class='highlight-py'><pre><span></span><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>2\n</pre></div>",
            &["py: a = 1\n2"],
        ),
        (
            "<div class='language-py highlight'><table class=highlighttable><tr><th colspan=2><span>a.py</span></th></tr><tr><td class=linenos><div><pre><span></span><span>1</span>\n2</pre></div></td>\n\
            <td class=code><div><pre><span></span><code>a\n  b</code></pre></div></td></tr></table></div>After",
            &["a.py", "py: a\n  b", "After"],
        ),
        // Rouge and highlight.js.
        (
            "<pre><code><table class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td><td><pre>a\n  b\n</pre></td></tr></tbody></table></code></pre>",
            &[": a\n  b"],
        ),
        (
            "<pre><code><table class=hljs-ln><tr><td class=hljs-ln-numbers><div data-line-number=1>1</div></td><td>a</td></tr><tr><td class=hljs-ln-numbers><div>2</div></td><td>  b</td></tr></table></code></pre>",
            &[": a\n  b"],
        ),
        (
            "<pre><ol class=linenums><li class=L0>a</li><li class=L1>b</li></ol></pre>",
            &[": a\nb"],
        ),
        (
            "<pre><span class=lineno> 1 </span>a\n<span class=lineno> 2 </span>\n</pre>",
            &[": a"],
        ),
        // Chroma, whose lines contain their ends.
        (
            "<pre><code class=language-txt><span class=line><span class=ln>1</span><span class=cl>a\n</span></span><span class=line><span class=ln>2</span><span class=cl>42\n</span></span></code></pre>",
            &["txt: a\n42"],
        ),
        (
            "<pre><div class=line><i class=ln>1</i>41</div><div class=line><i class=ln>2</i>42</div></pre>",
            &[": 41\n42"],
        ),
        // Numbers that are code.
        (
            "<pre><span class=line><span class=cl>41\n</span></span><span class=line><span class=cl>7\n</span></span><span class=line><span class=cl>a\n</span></span></pre>",
            &[": 41\n7\na"],
        ),
        (
            "<pre><span class=line>1</span>\n<span class=line>2</span></pre>",
            &[": 1\n2"],
        ),
        (
            "<pre><span class=line>1</span>\n<span class=line>a</span></pre>",
            &[": 1\na"],
        ),
        (
            "<pre><span class=mi>1</span>: a\n<span class=mi>2</span>: b</pre>",
            &[": 1: a\n2: b"],
        ),
        // Text, and a table of examples.
        (
            "<div class=line-block><div class=line>a</div><div class=line>b</div></div>",
            &["a", "b"],
        ),
        (
            "<table><tr><td>1</td><td><pre>a</pre></td></tr></table>",
            &["1 | a"],
        ),
        // Javadoc.
        (
            "<div class=type-signature><span class=annotations><a href=/d>@Documented</a>\n</span><span>public @interface&nbsp;</span><span>A</span></div><div class=block>Text.</div>",
            &[": @Documented\npublic @interface A", "Text."],
        ),
    ] {
        check(html, expected);
    }
}

#[test]
fn lines_of_digits_in_the_code_of_hugo_are_code() {
    for (html, expected) in [
        // With and without numbers, and without classes.
        (
            "<pre><code><span class=line><span class=ln id=1><a class=lnlinks href=#1>1</a></span><span class=cl>41\n</span></span><span class=line><span class=ln id=2><a class=lnlinks href=#2>2</a></span><span class=cl>42\n</span></span></code></pre>",
            &[": 41\n42"][..],
        ),
        (
            "<pre><code><span style='display:flex;'><span style='white-space:pre;user-select:none;color:#7f7f7f'>1</span><span>41\n</span></span><span style='display:flex;'><span style='white-space:pre;user-select:none;color:#7f7f7f'>2</span><span>a\n</span></span></code></pre>",
            &[": 41\na"],
        ),
        (
            "<pre><code><span style='display:flex;'><span><span style='color:#f00'>41</span>\n</span></span><span style='display:flex;'><span>42\n</span></span><span style='display:flex;'><span>a\n</span></span></code></pre>",
            &[": 41\n42\na"],
        ),
        (
            "<pre><code><span class='line hl'><span class=cl>41</span></span>\n<span class=line><span class=cl>42</span></span>\n<span class=line><span class=cl>a</span></span></code></pre>",
            &[": 41\n42\na"],
        ),
        (
            "<table class=lntable><tr><td class=lntd><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td><td class=lntd><pre><code><span class=line><span class=cl>41\n</span></span><span class=line><span class=cl>42\n</span></span></code></pre></td></tr></table>",
            &[": 41\n42"],
        ),
        // A line that only its element ends.
        (
            "<pre><span class=line><div>41</div></span><span class=line>42\n</span><span class=line>a</span></pre>",
            &[": 41\n42\na"],
        ),
    ] {
        check(html, expected);
    }
}
