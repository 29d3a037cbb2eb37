#include "text/spoken/markup.h"

#include <string>

#include <gtest/gtest.h>

#include "much.h"
#include "text/spoken/front_matter.h"
#include "text/spoken/html_entities.h"

namespace mynah {
namespace {

std::string html(std::string_view text) {
  return strip_markup(text, {.kind = MarkupKind::Html});
}

TEST(Markdown, EmphasisIsTakenOff) {
  EXPECT_EQ(strip_markup("**bold** and *italic* and ***both*** and ~~gone~~ and __so__ _on_."),
            "bold and italic and both and gone and so on.");
  EXPECT_EQ(strip_markup("3 * 4, 3*4, my_var_name, ~5, 2 _ 3"),
            "3 * 4, 3*4, my_var_name, ~5, 2 _ 3");
  EXPECT_EQ(strip_markup("\\*not\\* \\_this\\_ \\[nor this] C:\\new"),
            "*not* _this_ \\[nor this] C:\\new");
}

TEST(Markdown, HeadingsAndListsAreParagraphs) {
  EXPECT_EQ(strip_markup("# One\nText\n## Two ##x\n- a\n- b\n* [x] c\n1. d\n2. e\n"),
            "One\n\nText\n\nTwo ##x\n\na\n\nb\n\nc\n\n1. d\n\n2. e\n");
  EXPECT_EQ(strip_markup("# One #\n### 3.1 Two ###  \n## C#\n# F # x\n"),
            "One\n\n3.1 Two\n\nC#\n\nF # x\n\n");
  EXPECT_EQ(strip_markup("Title\n=====\nText\n\n---\n\nMore\n***\n"), "Title\n\nText\n\nMore\n\n");
  EXPECT_EQ(strip_markup("> quoted\n> more\n"), "quoted\nmore\n");
  EXPECT_EQ(strip_markup("#hashtag and #5"), "#hashtag and #5");
}

TEST(Markdown, LinksAreTheirText) {
  EXPECT_EQ(
      strip_markup("See [the **docs**](https://a.b/c_d) and ![a cat](x.png), [this][1], done[^2]."),
      "See the docs and a cat, this, done.");
  EXPECT_EQ(strip_markup("<https://example.com/a> [1]: no\n[1]: https://a.b\nEnd"),
            "https://example.com/a [1]: no\nEnd");
  EXPECT_EQ(strip_markup("[Who](/hu/) [pause:1.5s] [a] [b] (c) wow! [open"),
            "[Who](/hu/) [pause:1.5s] [a] [b] (c) wow! [open");
}

TEST(Markdown, CodeIsReadPlainlyInSpansAndNamedInBlocks) {
  EXPECT_EQ(strip_markup("Use `a_b * c` or ``x ` y`` or ` alone."),
            "Use a_b * c or x ` y or ` alone.");
  const std::string_view block = "Look:\n```python\nx = *y*\n\n```\nDone.";
  EXPECT_EQ(strip_markup(block), "Look:\n\nCode block.\n\nDone.");
  EXPECT_EQ(strip_markup(block, {.code = CodeBlocks::Skipped}), "Look:\n\nDone.");
  EXPECT_EQ(strip_markup(block, {.code = CodeBlocks::Read}), "Look:\n\nx = *y*\n\nDone.");
  EXPECT_EQ(strip_markup("~~~\nnever closed\n"), "Code block.\n\n");
}

TEST(Markdown, TablesAreReadRowByRow) {
  EXPECT_EQ(strip_markup("| Name | *Age* |\n|------|:---:|\n| Bob | 5 |\n|  | a \\| b |\nText"),
            "Name, Age\n\nBob, 5\n\na | b\n\nText");
}

TEST(Markdown, FrontMatterIsNotSaid) {
  EXPECT_EQ(strip_markup("---\ntitle: \"A: B\"\ntags:\n  - x\n---\nText\n"), "Text\n");
  EXPECT_EQ(strip_markup("\xEF\xBB\xBF---\r\n# facts\r\ntitle: x\r\n...\r\nText"), "Text");
  // A line across the page, prose with a colon behind one, and facts without an end.
  EXPECT_EQ(strip_markup("---\n\nHello: it is me.\n\n---\n"), "Hello: it is me.\n\n");
  EXPECT_EQ(strip_markup("---\nHello there.\n---\nMore"), "Hello there.\n\nMore");
  EXPECT_EQ(strip_markup("---\ntitle: x\nText"), "title: x\nText");
  EXPECT_EQ(strip_markup("Text\n\n---\ntitle: x\n---\n"), "Text\n\ntitle: x\n\n");
}

TEST(Markdown, FactsAreReadFromFrontMatter) {
  const FrontMatter facts = read_front_matter(
      "---\ntitle: 'My Book' # mine\nauthor: Ann Author # me\nlang: en-GB\ntitle: other\n---\n",
      true);
  EXPECT_EQ(facts.state, FrontMatter::State::Whole);
  EXPECT_EQ(facts.title, "My Book");
  EXPECT_EQ(facts.author, "Ann Author");
  EXPECT_EQ(facts.language, "en-GB");
  EXPECT_EQ(read_front_matter("---\ntitle: x\n", false).state, FrontMatter::State::NeedsMore);
  EXPECT_EQ(read_front_matter("---\ntitle: x\n" + std::string(9000, 'x'), false).state,
            FrontMatter::State::None);
}

TEST(Markdown, FootnotesAreNotSaid) {
  EXPECT_EQ(strip_markup("One[^1] two[^note].\n\n[^1]: See *there*.\nand there\n\n    and here.\n"
                         "[^note]: No.\n\nThree.\n"),
            "One two.\n\nThree.\n");
  EXPECT_EQ(strip_markup("[^1]: " + std::string(20000, 'x') + "\n\nEnd"),
            ": " + std::string(20000, 'x') + "\n\nEnd");
  EXPECT_EQ(strip_markup("[Ann]: Hello there.\n[b]: <x> 'title'\n"), "[Ann]: Hello there.\n");
}

TEST(Html, TagsGoAndBlocksAreParagraphs) {
  EXPECT_EQ(html("<html><head><title>T</title><style>p { x }</style></head><body>\n<p>One "
                 "<b>two</b>\n three.</p>"
                 "<ul><li>a<li>b</ul><script>if (a < b) { \"</p>\" }</script>x<br/>y<!-- no > "
                 "-->z</body></html>"),
            "One two three.\n\na\n\nb\n\nx\nyz");
  EXPECT_EQ(html("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"),
            "a, b\n\nc\n\n");
  EXPECT_EQ(html("<img src=x alt=\"a > b\"> 1 < 2 <pre>code</pre>after <a title='>'>link</a> <3"),
            "a > b 1 < 2 \n\nCode block.\n\nafter link <3");
  EXPECT_EQ(strip_markup("Some <b>HTML</b> &amp; *Markdown*<br>here"),
            "Some HTML & Markdown\nhere");
}

TEST(Html, WhatIsHiddenIsLeftOut) {
  EXPECT_EQ(html("<p>a<span style='color:red; Display : none'>no<script>'</span>'</script></span>b"
                 "<span aria-hidden=\"true\">no < no</span>c<i hidden>no</i>d"
                 "<img hidden alt=no><br hidden>e</p><div hidden><div>no</div>no</div>"
                 "<ul><li hidden>no<ul><li>no</ul><li>f</ul><p hidden>no<p hidden>no<p>g"),
            "abcd\ne\n\nf\n\ng");
  EXPECT_EQ(html("a<div hidden>no</div>b"), "a\n\nb");
  EXPECT_EQ(strip_markup("One\n\n<div hidden>\n\n# no\n\n```\n</div>\n\n# Two\n<b hidden>no"),
            "One\n\n\nTwo\n\n");
}

TEST(Html, ItemsOfOrderedListsHaveTheirNumbers) {
  EXPECT_EQ(html("<ol>\n<li>a</li>\n<li> <p>b</p><ol start=4><li>c<li>d</ol></li>\n"
                 "<li value='9'>e<li></li><li><ul><li>f</ul></ol><li>g"),
            "1. a\n\n2. b\n\n4. c\n\n5. d\n\n9. e\n\nf\n\ng");
  EXPECT_EQ(html("<ol type=\"A\"><li>x</ol><OL reversed START=2><li>b<li>a</ol>"
                 "<ol style='list-style: none'><li>c</ol>"),
            "A) x\n\n2. b\n\n1. a\n\nc\n\n");
  // As Markdown's own, with which they may be mixed.
  EXPECT_EQ(strip_markup("1. a\n2. b\n<ol start=3><li>c</ol>"), "1. a\n\n2. b\n\n3. c\n\n");
}

TEST(Html, EntitiesAreCharacters) {
  EXPECT_EQ(html("a &amp; b &lt;c&gt; &#8217;&#x2019; &nbsp;&eacute; &nosuch; AT&T &#0; &"),
            "a & b <c> \u2019\u2019 \u00A0\u00E9 &nosuch; AT&T &#0; &");
  EXPECT_EQ(html("x &nGt; y &CounterClockwiseContourIntegral;"), "x \u226B\u20D2 y \u2233");
  EXPECT_EQ(entity_text("ThickSpace"), "  ");
  EXPECT_FALSE(entity_text("#xD800"));
  EXPECT_FALSE(entity_text("#99999999999"));
  EXPECT_FALSE(entity_text("#"));
}

constexpr std::string_view kMixed =
    "---\ntitle: x\n---\n# Head *x*\n\n[^1]: a note\n    more\n\nText with **bo\nld** and [a "
    "link](http://x.y/z_w) `co*de` &amp; <b>tag</b> "
    "snake_case 3 * 4.\n"
    "```cpp\nint *x;\n```\n| a | b |\n|---|---|\n| [c](d) | e |\n\n- [ ] item\n* two\n1. three\n> "
    "quote\n---\n"
    "![alt](u) [^1] \\* <!-- c --> <ol start='3'><li><p>x<li hidden>no <li>y</ol> "
    "<script>x</script> [Who](/hu/) [unclosed `tick <b &am \r\n**";

TEST(Markup, PiecesGiveTheSameAsTheWhole) {
  for (const MarkupKind kind : {MarkupKind::Markdown, MarkupKind::Html}) {
    const std::string whole = strip_markup(kMixed, {.kind = kind});
    ASSERT_FALSE(whole.empty());
    for (size_t size = 1; size < 12; ++size) {
      MarkupFilter filter({.kind = kind});
      std::string pieces;
      for (size_t at = 0; at < kMixed.size(); at += size) {
        pieces += filter.push(kMixed.substr(at, size));
      }
      pieces += filter.finish();
      EXPECT_EQ(pieces, whole) << size;
    }
  }
}

TEST(Markup, TextIsGivenBeforeItsLineEnds) {
  MarkupFilter filter;
  EXPECT_EQ(filter.push("It is **im"), "It is im");
  EXPECT_EQ(filter.push("portant** to [re"), "portant to ");
  EXPECT_EQ(filter.push("ad](http"), "");
  EXPECT_EQ(filter.push("://x.y) on."), "read on.");
}

TEST(Markup, SourcesAreTheMarkupsBytes) {
  const std::string_view markup = "# A **bold** [link](u) &amp; so";
  MarkupFilter filter;
  const std::string text = filter.push(markup) + filter.finish();
  ASSERT_EQ(text, "A bold link & so");
  const auto source = [&](std::string_view part) {
    const size_t begin = text.find(part);
    const ByteRange range = filter.source_of({begin, begin + part.size()});
    return markup.substr(range.begin, range.end - range.begin);
  };
  EXPECT_EQ(source("bold"), "bold");
  EXPECT_EQ(source("link"), "link");
  EXPECT_EQ(source("&"), "&amp;");
  EXPECT_EQ(source("so"), "so");
}

// Each takes minutes where a mark is looked for again from every byte.
TEST(Markup, MuchOfAnythingIsRead) {
  for (const std::string_view unit : {"a",           "*",        "[",    "[a",       "`",
                                      "``a`",        "<",        "<a",   "&",        "|",
                                      "\n",          "- ",       "# ",   "[^1]: ",   "[^1]: a\n",
                                      "---\na: b\n", "![",       "<!--", "<script>", "<ol>",
                                      "<li hidden>", "<a b=c d", "_",    "\\",       " "}) {
    std::string text;
    while (text.size() < test::much(500'000)) {
      text += unit;
    }
    EXPECT_LE(strip_markup(text).size(), 2 * text.size()) << unit;
    EXPECT_LE(html(text).size(), text.size()) << unit;
  }
}

}  // namespace
}  // namespace mynah
