// Documents as people have them: chapters, what is read and what is not, and what is refused.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "temporary_folder.h"
#include "text/documents/document.h"
#include "text/documents/html.h"
#include "text/documents/tags.h"
#include "zip_file.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> titles(const Document& document) {
  std::vector<std::string> titles;
  for (const Chapter& chapter : document.chapters) {
    titles.push_back(chapter.title);
  }
  return titles;
}

TEST(PlainText, BeginsChaptersAtTheirHeadings) {
  const Document book = read_plain_text(
      "\xEF\xBB\xBFMy Book\n\nby Me\n\nPrologue\n\nOnce upon\na time.\n\nCHAPTER I. The "
      "Storm\n\nIt "
      "rained. Chapter and verse\nwere read.\n\nChapter Two\n\nIt stopped.\n\nPart of it was dry.");
  EXPECT_THAT(titles(book), ElementsAre("", "Prologue", "CHAPTER I. The Storm", "Chapter Two"));
  EXPECT_EQ(book.chapters[1].text, "Prologue\n\nOnce upon\na time.");
  EXPECT_THAT(book.chapters[3].text, HasSubstr("Part of it was dry."));
}

TEST(PlainText, CutsALongTextWithoutChaptersAtParagraphs) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text +=
        "This is paragraph " + std::to_string(i) + " of a text that has no chapters at all.\n\n";
  }
  const Document book = read_plain_text(text);
  EXPECT_GT(book.chapters.size(), 2U);
  std::string all;
  for (const Chapter& chapter : book.chapters) {
    EXPECT_LT(chapter.text.size(), 21000U);
    EXPECT_TRUE(chapter.text.starts_with("This is paragraph"));
    all += chapter.text + "\n\n";
  }
  EXPECT_EQ(all, text);
}

TEST(PlainText, OfNothingHasNoChapter) {
  EXPECT_THAT(read_plain_text(" \n\n\t").chapters, IsEmpty());
}

TEST(Markdown, BeginsChaptersAtTheHighestHeadingThatComesTwice) {
  const Document book = read_markdown(
      "# The Book\n\nHello.\n\n## One ##\nText *with* marks.\n\n### Deeper\n\nMore.\n\nTwo\n---\n"
      "```\n# no heading\n```\nEnd.\n");
  EXPECT_EQ(book.title, "The Book");
  EXPECT_THAT(titles(book), ElementsAre("The Book", "One", "Two"));
  EXPECT_THAT(book.chapters[1].text, HasSubstr("Text with marks."));
  EXPECT_THAT(book.chapters[2].text, HasSubstr("Code block."));
}

TEST(Markdown, TakesItsTitleFromFrontMatterWhereNoHeadingHasOne) {
  const std::string facts = "---\ntitle: From the facts\nauthor: Ann\nlanguage: en-GB\n---\n";
  const Document without = read_markdown(facts + "## One\na\n\n## Two\nb\n");
  EXPECT_EQ(without.title, "From the facts");
  EXPECT_EQ(without.author, "Ann");
  EXPECT_EQ(without.language, "en-GB");
  EXPECT_THAT(titles(without), ElementsAre("One", "Two"));
  EXPECT_EQ(without.chapters[0].text, "One\n\na");
  EXPECT_EQ(read_markdown(facts + "# The Book\n\nText").title, "The Book");
  EXPECT_EQ(read_markdown("# C#\n\nText").title, "C#");
}

TEST(Tags, EntitiesAreReplacedOnceAndUnknownOnesStay) {
  EXPECT_EQ(replace_entities("a &amp;lt; b &mdash;&#8217;&#x2019;&#150; &nothing; &;&"),
            "a &lt; b \u2014\u2019\u2019\u2013 &nothing; &;&");
  EXPECT_EQ(replace_entities(
                "&fjlig;&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegrals;"),
            "fj\u2233&CounterClockwiseContourIntegrals;");
  EXPECT_EQ(replace_entities("&#0;&#xD800;&#99999999999;"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Tags, AreReadHoweverTheyAreWritten) {
  TagReader tags("<!DOCTYPE x><!-- <b> --><A HREF='x&amp;y' b=c d>t<br/></a><![CDATA[<i>]]>1 < 2<");
  auto tag = tags.next();
  EXPECT_EQ(tag->name, "a");
  EXPECT_EQ(tag->attribute("href"), "x&y");
  EXPECT_EQ(tag->attribute("b"), "c");
  EXPECT_EQ(tags.next()->text, "t");
  tag = tags.next();
  EXPECT_TRUE(tag->closed && tag->name == "br");
  EXPECT_EQ(tags.next()->kind, Tag::Kind::Close);
  EXPECT_EQ(tags.next()->text, "<i>");
  EXPECT_EQ(tags.next()->text, "1 ");
  EXPECT_EQ(tags.next()->text, "< 2");
  EXPECT_EQ(tags.next()->text, "<");
  EXPECT_EQ(tags.next(), std::nullopt);
}

TEST(Html, ReadsWhatAReaderSees) {
  const HtmlPage page = read_html_page(
      "<html lang=en><head><title>A\n  page</title><style>p{}</style></head><body><nav>Menu</nav>"
      "<h1>One&nbsp;<em>more</em></h1><p>It&rsquo;s  a <b>bold</b>\nword."
      "<br>New line<script>if (a<b) {}</script><p hidden>no<p>Second</p><table><tr><td>a<td>b</tr>"
      "</table><ul><li>x<li>y</ul></body></html>");
  EXPECT_EQ(page.title, "A page");
  EXPECT_EQ(page.language, "en");
  std::vector<std::string> texts;
  for (const HtmlBlock& block : page.blocks) {
    texts.push_back(block.text);
  }
  EXPECT_THAT(texts, ElementsAre("One more", "It\u2019s a bold word.\nNew line", "Second", "a, b",
                                 "x", "y"));
}

std::vector<std::string> blocks_of(std::string_view html) {
  std::vector<std::string> texts;
  for (const HtmlBlock& block : read_html_page(html).blocks) {
    texts.push_back(block.text);
  }
  return texts;
}

TEST(Html, LeavesOutWhatIsHidden) {
  EXPECT_THAT(blocks_of("<p>a<span style='color: red; Display : NONE'>no</span>b"
                        "<span style=\"visibility:hidden\">no<br></span>c"
                        "<span aria-hidden=\"true\">no</span>d<i hidden=''>no</i>e</p>"
                        "<div style='display:none'><div>no</div>no</div>"
                        "<p style='display:block'>f <span aria-hidden='false'>g</span></p>"),
              ElementsAre("abcde", "f g"));
  EXPECT_THAT(blocks_of("<ul><li hidden>no<ul><li>no</ul>no<li>a<li hidden>no</ul><p>b"),
              ElementsAre("a", "b"));
  EXPECT_THAT(blocks_of("<p hidden>no<p hidden>no<p>a"), ElementsAre("a"));
}

TEST(Html, ItemsOfOrderedListsHaveTheirNumbers) {
  EXPECT_THAT(blocks_of("<ol><li>a</li><li><p>b</p><p>more</p><ol start=4><li>c<li>d</ol></li>"
                        "<li value='9'>e</li><li>f<ul><li>g</ul></ol>"),
              ElementsAre("1. a", "2. b", "more", "4. c", "5. d", "9. e", "10. f", "g"));
  EXPECT_THAT(
      blocks_of("<ol type=a><li>x<li>y</ol><ol type=I><li>z</ol>"
                "<ol reversed start=2><li>b<li>a</ol><ol reversed><li>no number</ol>"
                "<ol style='list-style: none'><li>nor here</ol><li>or here"),
      ElementsAre("a) x", "b) y", "1. z", "2. b", "1. a", "no number", "nor here", "or here"));
  EXPECT_THAT(blocks_of("<ol><li></li><li>second</ol>after"), ElementsAre("2. second", "after"));
}

TEST(Html, RaisedNumbersArePowersOrMarksOfNotes) {
  EXPECT_THAT(blocks_of("<p>10<sup>3</sup> m<sup>2</sup>, 5 metres<sup>2</sup>, e<sup>-n</sup>"),
              ElementsAre("10\u00B3 m\u00B2, 5 metres\u00B2, e\u207B\u207F"));
  EXPECT_THAT(blocks_of("<p>the 1<sup>st</sup> of x<sup>a+b</sup>"),
              ElementsAre("the 1st of xa+b"));
  EXPECT_THAT(
      blocks_of("<p>It was grey.<sup>2</sup> Water<sup>1</sup> fell,<sup>3</sup> he said.\u201D"
                "<sup>4</sup>"),
      ElementsAre("It was grey. Water fell, he said.\u201D"));
  EXPECT_THAT(
      blocks_of("<p>grey.<sup><a href='notes.html#n2'>2</a></sup> He<a href='#a'><sup>b</sup>"
                "</a> left m<sup><a href=#c>2</a></sup>"),
      ElementsAre("grey. Heb left m"));
  EXPECT_THAT(blocks_of("<p>a<sup>2<p>b<sup>3"), ElementsAre("a\u00B2", "b\u00B3"));
}

TEST(Html, LeavesOutNotesAndPagesNumbers) {
  EXPECT_EQ(read_html("<p>In 1890.<span class='x pagenum'>12</span> Then</p>"
                      "<aside epub:type='footnote'><p>no</p></aside>"
                      "<section epub:type='chapter'><p>yes</p></section>"
                      "<div role=doc-endnotes><ol><li>no</ol></div><p class='pagenumber'>5</p>")
                .chapters.front()
                .text,
            "In 1890. Then\n\nyes\n\n5");
}

TEST(Html, CodeIsNamed) {
  EXPECT_THAT(blocks_of("<p>Run <code>ls</code>:<pre><code class=x>ls\nrm x</code></pre>"
                        "<pre>a poem<br>here</pre><p>b"),
              ElementsAre("Run ls:", "Code block.", "a poem\nhere", "b"));
}

TEST(Html, BeginsChaptersAtHeadings) {
  const Document page = read_html(
      "<h1>Book</h1><p>Intro</p><h2>One</h2><p>a</p><h3>Sub</h3><p>b</p><h2>Two</h2><p>c</p>");
  EXPECT_THAT(titles(page), ElementsAre("Book", "One", "Two"));
  EXPECT_EQ(page.chapters[1].text, "One\n\na\n\nSub\n\nb");
}

// A small EPUB of two chapters and what may come with them.
std::vector<test::ZipEntry> small_epub(bool third) {
  return {
      {"mimetype", "application/epub+zip"},
      {"META-INF/container.xml",
       "<?xml version='1.0'?><container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'>"
       "<rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>"},
      {"OEBPS/book.opf",
       std::string("<package><metadata><dc:title>The &amp; Book</dc:title><dc:creator>Ann "
                   "Author</dc:creator><dc:language>en-GB</dc:language></metadata><manifest>"
                   "<item id='nav' href='nav.xhtml' properties='nav'/>"
                   "<item id='ncx' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
                   "<item id='c1' href='text/one%20page.xhtml'/><item id='c1b' "
                   "href='text/one-b.xhtml'/><item id='c2' href='text/two.xhtml'/></manifest>"
                   "<spine toc='ncx'>") +
           (third ? "<itemref idref='nav'/>" : "") +
           "<itemref idref='c1'/><itemref idref='c1b'/><itemref idref='missing'/>"
           "<itemref idref='c2'/><itemref idref='c1' linear='no'/></spine></package>"},
      {third ? "OEBPS/nav.xhtml" : "OEBPS/unused.xhtml",
       "<nav epub:type='toc'><ol><li><a href='text/one%20page.xhtml#x'>First\n chapter</a></li>"
       "<li><a href='text/two.xhtml'>Second</a></li></ol></nav><nav epub:type='landmarks'>"
       "<a href='text/one-b.xhtml'>Not one</a></nav>"},
      {"OEBPS/toc.ncx",
       "<ncx><navMap><navPoint><navLabel><text>First of "
       "NCX</text></navLabel><content src='text/one%20page.xhtml'/></navPoint></navMap></ncx>"},
      {"OEBPS/text/one page.xhtml", "<html><body><h1>I</h1><p>First page.</p></body></html>"},
      {"OEBPS/text/one-b.xhtml", "<html><body><p>More of it.</p></body></html>"},
      {"OEBPS/text/two.xhtml", "<html><body><p>Second page.</p></body></html>"},
  };
}

TEST(Epub, IsReadByItsSpineAndTableOfContents) {
  const TemporaryFolder folder;
  test::write_zip(folder / "a.epub", small_epub(true));
  const auto book = read_document(folder / "a.epub");
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_EQ(book->title, "The & Book");
  EXPECT_EQ(book->author, "Ann Author");
  EXPECT_EQ(book->language, "en-GB");
  EXPECT_THAT(titles(*book), ElementsAre("First chapter", "Second"));
  EXPECT_EQ(book->chapters[0].text, "I\n\nFirst page.\n\nMore of it.");
}

TEST(Epub, OfTheSecondVersionHasItsTitlesInTheNcx) {
  const TemporaryFolder folder;
  test::write_zip(folder / "a.epub", small_epub(false));
  const auto book = read_document(folder / "a.epub");
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_THAT(titles(*book), ElementsAre("First of NCX"));
  EXPECT_THAT(book->chapters[0].text, HasSubstr("Second page."));
}

TEST(Epub, WarnsOfPagesThatItNamesAndLacks) {
  const TemporaryFolder folder;
  auto entries = small_epub(true);
  std::erase_if(entries,
                [](const test::ZipEntry& entry) { return entry.name == "OEBPS/text/one-b.xhtml"; });
  test::write_zip(folder / "a.epub", entries);
  const auto book = read_document(folder / "a.epub");
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_EQ(book->chapters[0].text, "I\n\nFirst page.");
  EXPECT_THAT(book->warnings,
              ElementsAre("page 'OEBPS/text/one-b.xhtml' of the book is missing: it is not in the "
                          "archive",
                          "page 'missing' of the book is missing: the book's list of files has no "
                          "such name"));
}

// A book of these pages without a table of contents.
Document plain_book_of(const std::vector<std::string>& pages, const TemporaryFolder& folder) {
  std::string items;
  std::string spine;
  std::vector<test::ZipEntry> entries = {
      {"mimetype", "application/epub+zip"},
      {"META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"}};
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::string id = "p" + std::to_string(i);
    items += "<item id='" + id + "' href='" + id + ".xhtml'/>";
    spine += "<itemref idref='" + id + "'/>";
    entries.push_back({id + ".xhtml", pages[i]});
  }
  entries.push_back({"b.opf", "<package><metadata><dc:title>Book</dc:title></metadata><manifest>" +
                                  items + "</manifest><spine>" + spine + "</spine></package>"});
  test::write_zip(folder / "a.epub", entries);
  const auto book = read_document(folder / "a.epub");
  return book ? *book : Document{.title = book.error().message};
}

// A book whose table of contents has these lines, and these pages p0.xhtml, p1.xhtml ...
Document book_with_contents(const std::string& lines, const std::vector<std::string>& pages,
                            bool third, const TemporaryFolder& folder) {
  std::string items;
  std::string spine;
  std::vector<test::ZipEntry> entries = {
      {"META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"},
      {"toc", lines}};
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::string id = "p" + std::to_string(i);
    items += "<item id='" + id + "' href='" + id + ".xhtml'/>";
    spine += "<itemref idref='" + id + "'/>";
    entries.push_back({id + ".xhtml", pages[i]});
  }
  const std::string nav = third ? " properties='nav'" : "";
  entries.push_back({"b.opf", "<package><manifest>" + items + "<item id='toc' href='toc'" + nav +
                                  "/></manifest><spine toc='toc'>" + spine + "</spine></package>"});
  test::write_zip(folder / "a.epub", entries);
  const auto book = read_document(folder / "a.epub");
  return book ? *book : Document{.title = book.error().message};
}

TEST(Epub, BeginsAChapterAtEachPlaceThatTheContentsName) {
  const TemporaryFolder folder;
  const Document book = book_with_contents(
      "<nav epub:type='toc'><ol><li><a href='p0.xhtml#one'>One</a></li><li><a "
      "href='p0.xhtml#two'>Two</a><ol><li><a href='p0.xhtml#deep%20er'>Deeper</a></li></ol></li>"
      "<li><a href='p1.xhtml#four'>Four</a></li></ol></nav>",
      {"<body><h2>I</h2><section id='one'><h2>One</h2><p>a</p></section><h2>Two<a id='two'/></h2>"
       "<p>b<br/><a name='deep er'></a>c</p><p id='other'>d</p></body>",
       "<p>Still it.</p><span aria-hidden='true' id='four'>9</span><p>e</p>"},
      true, folder);
  EXPECT_THAT(titles(book), ElementsAre("One", "Two", "Deeper", "Four"));
  ASSERT_EQ(book.chapters.size(), 4U);
  EXPECT_EQ(book.chapters[0].text, "I\n\nOne\n\na");
  EXPECT_EQ(book.chapters[1].text, "Two\n\nb");
  EXPECT_EQ(book.chapters[2].text, "c\n\nd\n\nStill it.");
  EXPECT_EQ(book.chapters[3].text, "e");
}

TEST(Epub, PlacesOfAnNcxAreThoseOfItsMap) {
  const TemporaryFolder folder;
  const Document book = book_with_contents(
      "<ncx><navMap><navPoint><navLabel><text>One</text></navLabel><content "
      "src='p0.xhtml#nowhere'/></navPoint><navPoint><navLabel><text>Two</text></navLabel><content "
      "src='p0.xhtml#two'/></navPoint></navMap><pageList><pageTarget><navLabel><text>12</text>"
      "</navLabel><content src='p0.xhtml#page12'/></pageTarget></pageList></ncx>",
      {"<p>a</p><p id='page12'>b</p><p id='two'>c</p>"}, false, folder);
  EXPECT_THAT(titles(book), ElementsAre("One", "Two"));
  EXPECT_EQ(book.chapters[0].text, "a\n\nb");
}

TEST(Epub, WithoutATableOfContentsBeginsChaptersAtHeadings) {
  const TemporaryFolder folder;
  const Document book = plain_book_of({"<p>By me.</p>", "<h2>One</h2><p>a</p>", "<p>more</p>",
                                       "<h2>Two</h2><p>b</p><h2>Three</h2><p>c</p>"},
                                      folder);
  EXPECT_THAT(titles(book), ElementsAre("", "One", "Two", "Three"));
  EXPECT_EQ(book.chapters[1].text, "One\n\na\n\nmore");
  EXPECT_THAT(book.warnings, IsEmpty());
}

TEST(Epub, WithoutATableOfContentsOrHeadingsHasAChapterAPage) {
  const TemporaryFolder folder;
  const Document book =
      plain_book_of({"<html><head><title>Book</title></head><body><p>a</p></body></html>",
                     "<html><head><title>The second</title></head><body><p>b</p></body></html>",
                     "<h1>The\n third</h1><p>c</p>", "<p> </p>"},
                    folder);
  EXPECT_THAT(titles(book), ElementsAre("", "The second", "The third"));
  EXPECT_EQ(book.chapters[2].text, "The third\n\nc");
}

TEST(Epub, TellsThatItsTableOfContentsIsMissing) {
  const TemporaryFolder folder;
  auto entries = small_epub(true);
  std::erase_if(entries, [](const test::ZipEntry& entry) {
    return entry.name == "OEBPS/nav.xhtml" || entry.name == "OEBPS/toc.ncx";
  });
  test::write_zip(folder / "a.epub", entries);
  const auto book = read_document(folder / "a.epub");
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_THAT(book->warnings,
              testing::Contains(HasSubstr("toc.ncx' is missing: chapters are told")));
  EXPECT_EQ(book->chapters.size(), 3U);
}

TEST(Epub, SaysWhatIsWrongWithIt) {
  const TemporaryFolder folder;
  const auto error_of = [&](std::vector<test::ZipEntry> entries) {
    test::write_zip(folder / "a.epub", entries);
    const auto book = read_document(folder / "a.epub");
    return book ? std::string() : book.error().message;
  };
  EXPECT_THAT(error_of({{"a.txt", "x"}}), HasSubstr("'META-INF/container.xml' is not in it"));
  EXPECT_THAT(error_of({{"META-INF/container.xml", "<container/>"}}),
              HasSubstr("names no package"));
  auto locked = small_epub(true);
  locked.push_back({"META-INF/rights.xml", ""});
  EXPECT_THAT(error_of(locked), HasSubstr("locked (DRM)"));
  auto bomb = small_epub(true);
  bomb[5].text = std::string(40U << 20U, ' ');
  EXPECT_THAT(error_of(bomb), HasSubstr("unpacks to 40 MB; wanted pages of at most 32 MB"));
  std::ofstream(folder / "b.epub") << "PK no zip";
  EXPECT_THAT(read_document(folder / "b.epub").error().message, HasSubstr("b.epub"));
}

TEST(Pdf, IsReadByPdftotext) {
  if (!find_program("pdftotext")) {
    GTEST_SKIP() << "pdftotext is not installed";
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "no.pdf") << "this is no PDF";
  const auto wrong = read_document(folder / "no.pdf");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("damaged, locked, or no PDF"));
  // The smallest page with text that there is.
  const std::string stream = "BT /F1 24 Tf 100 700 Td (Hello from a page.) Tj ET";
  std::string pdf = "%PDF-1.4\n";
  std::vector<size_t> places;
  const auto object = [&](const std::string& body) {
    places.push_back(pdf.size());
    pdf += std::to_string(places.size()) + " 0 obj\n" + body + "\nendobj\n";
  };
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  object(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << "
      "/F1 5 0 R >> >> >>");
  object("<< /Length " + std::to_string(stream.size()) + " >>\nstream\n" + stream + "\nendstream");
  object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const size_t table = pdf.size();
  pdf += "xref\n0 6\n0000000000 65535 f \n";
  for (const size_t place : places) {
    const std::string digits = std::to_string(place);
    pdf += std::string(10 - digits.size(), '0') + digits + " 00000 n \n";
  }
  pdf += "trailer << /Root 1 0 R /Size 6 >>\nstartxref\n" + std::to_string(table) + "\n%%EOF\n";
  std::ofstream(folder / "-a.pdf", std::ios::binary) << pdf;
  const auto page = read_document(folder / "-a.pdf");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->chapters.size(), 1U);
  EXPECT_EQ(page->chapters[0].text, "Hello from a page.");
}

TEST(Documents, AreToldByTheirNames) {
  EXPECT_TRUE(has_document_extension("a/B.EPUB"));
  EXPECT_TRUE(has_document_extension("a.md"));
  EXPECT_FALSE(has_document_extension("a.wav"));
  EXPECT_FALSE(has_document_extension("epub"));
  EXPECT_EQ(read_document("/nowhere/a.txt").error().code, ErrorCode::NotFound);
  EXPECT_EQ(read_document("/tmp/").error().code, ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace mynah
