// Notes of documents: known by what they are called, by their marks and by what leads back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_paths.h"
#include "text/documents/document.h"
#include "text/documents/document_words.h"
#include "text/documents/html.h"
#include "zip_file.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The text of all chapters, with "|" for the breaks between paragraphs.
std::string said(const Document& document) {
  std::string text;
  for (const Chapter& chapter : document.chapters) {
    text += (text.empty() ? "" : "\n\n") + chapter.text;
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool paragraph = text.substr(i, 2) == "\n\n";
    out += paragraph ? '|' : text[i] == '\n' ? ' ' : text[i];
    i += paragraph ? 1 : 0;
  }
  return out;
}

std::string html(std::string_view page, NoteReading how = NoteReading::Skip) {
  return said(read_html(page, how));
}

struct BookPage {
  std::string name;
  std::string body;
  bool linear = true;
};

Document book_of(const std::vector<BookPage>& pages, NoteReading how = NoteReading::Skip) {
  const TemporaryFolder folder;
  std::string items;
  std::string spine;
  std::string contents;
  std::vector<test::ZipEntry> entries = {
      {"META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"}};
  for (const BookPage& page : pages) {
    items += "<item id='" + page.name + "' href='" + page.name + "'/>";
    spine += "<itemref idref='" + page.name + (page.linear ? "'/>" : "' linear='no'/>");
    contents += "<li><a href='" + page.name + "'>" + page.name + "</a></li>";
    entries.push_back({page.name, "<html><body>" + page.body + "</body></html>"});
  }
  entries.push_back({"nav", "<nav epub:type='toc'><ol>" + contents + "</ol></nav>"});
  entries.push_back({"b.opf", "<package><manifest>" + items +
                                  "<item id='nav' href='nav' properties='nav'/></manifest><spine>" +
                                  spine + "</spine></package>"});
  test::write_zip(folder / "a.epub", entries);
  const auto book = read_document(folder / "a.epub", how);
  return book ? *book : Document{.title = book.error().message};
}

TEST(NoteLabels, AreTold) {
  using Kind = NoteLabel::Kind;
  EXPECT_EQ(note_label("[12]").core, "12");
  EXPECT_TRUE(note_label("[12]").square);
  EXPECT_EQ(note_label("\u00B9\u00B2").core, "12");
  EXPECT_EQ(note_label(" (iv) ").kind, Kind::Letters);
  EXPECT_EQ(note_label("Note 3").core, "3");
  EXPECT_EQ(note_label("\u2020\u2020").kind, Kind::Symbol);
  for (const char* text : {"", "chapter 3", "12345", "the", "[see]", "3 horses", "[]"}) {
    EXPECT_EQ(note_label(text).kind, Kind::None) << text;
  }
  EXPECT_EQ(label_length("[3] Text", "3"), 4U);
  EXPECT_EQ(label_length("3. Text", "3"), 3U);
  EXPECT_EQ(label_length("33 Text", "3"), 0U);
  EXPECT_EQ(label_length("3,000 men", "3"), 0U);
  EXPECT_EQ(label_length("** Text", "*"), 0U);
  EXPECT_TRUE(is_back_text("\u21A9\uFE0E"));
  EXPECT_TRUE(is_back_text("[return]"));
  EXPECT_FALSE(is_back_text("back home"));
  EXPECT_TRUE(is_notes_title("FOOTNOTES:"));
  EXPECT_FALSE(is_notes_title("Notes from underground"));
}

// A book of the shared cases; what is said of it.
std::string shared_book(const std::string& name) {
  const auto book = read_document(test::shared_path("cases/speak/05-epub-notes/" + name));
  return book ? said(*book) : book.error().message;
}

TEST(Notes, OfTheSharedBooksAreNotSaid) {
  MYNAH_SKIP_WITHOUT(test::shared_path("cases/speak/05-epub-notes/notes.epub"));
  EXPECT_EQ(shared_book("notes.epub"),
            "Chapter 1|The king left the city at dawn. He rode far. He slept. He woke late.|"
            "Chapter 2|The queen stayed.");
  EXPECT_EQ(shared_book("notes2.epub"),
            "Chapter 1|The king left. He rode.|Chapter 2|The queen stayed.|Chapter 3|The duke "
            "slept.|Chapter 4|The knight woke.|Chapter 5|The page ran. The cook sang.|Chapter 6|"
            "The mill burned.");
}

TEST(Notes, OfProjectGutenberg) {
  EXPECT_EQ(html("<h2>I</h2><p>He left.<a id='FNanchor_1' href='#Footnote_1' class='fnanchor'>[1]"
                 "</a> Then.</p><h3>FOOTNOTES:</h3><div class='footnote'><p><a id='Footnote_1' "
                 "href='#FNanchor_1'><span class='label'>[1]</span></a> Note.</p><p>More of it.</p>"
                 "</div><p>After.</p>"),
            "I|He left. Then.|After.");
  EXPECT_EQ(
      html("<p>The city<a href='#linknote-1' name='linknoteref-1' id='linknoteref-1'><small>1"
           "</small></a> fell.</p><p><a name='linknote-1' id='linknote-1'><!-- Note --></a></p>"
           "<p class='foot'>1 (<a href='#linknoteref-1'>return</a>)<br/> [ The note. ]</p>"
           "<p>It fell again.</p>"),
      "The city fell.|It fell again.");
}

TEST(Notes, OfPandocAsciidoctorDocutilsAndMarkdownPrograms) {
  EXPECT_EQ(
      html("<p>A<a href='#fn1' class='footnote-ref' id='fnref1' role='doc-noteref'><sup>1</sup>"
           "</a> b.</p><aside id='footnotes' class='footnotes footnotes-end-of-document' "
           "role='doc-endnotes'><hr/><ol><li id='fn1'><p>Note.<a href='#fnref1' "
           "class='footnote-back' role='doc-backlink'>\u21A9\uFE0E</a></p></li></ol></aside>"),
      "A b.");
  EXPECT_EQ(html("<p>A<sup class='footnote'>[<a id='_footnoteref_1' class='footnote' "
                 "href='#_footnotedef_1'>1</a>]</sup> b.</p><div id='footnotes'><hr/><div "
                 "class='footnote' id='_footnotedef_1'><a href='#_footnoteref_1'>1</a>. "
                 "Note.</div></div>"),
            "A b.");
  EXPECT_EQ(html("<p>A <a class='footnote-reference brackets' href='#id2' id='id1'>1</a> b.</p><dl "
                 "class='footnote brackets'><dt class='label' id='id2'><span class='brackets'><a "
                 "class='fn-backref' href='#id1'>1</a></span></dt><dd><p>Note.</p></dd></dl>"),
            "A b.");
  EXPECT_EQ(html("<p>A<sup id='fnref:1'><a href='#fn:1' rel='footnote'>1</a></sup> b.</p><div "
                 "class='footnote'><hr><ol><li id='fn:1'><p>Note. <a href='#fnref:1' "
                 "rev='footnote'>&#8617;</a></p></li></ol></div>"),
            "A b.");
}

TEST(Notes, OfWordAndLibreOffice) {
  EXPECT_EQ(html("<p>A<a style='mso-footnote-id:ftn1' href='#_ftn1' name='_ftnref1'><span "
                 "class=MsoFootnoteReference><span>[1]</span></span></a> b.</p><div "
                 "style='mso-element:footnote-list'><hr><div style='mso-element:footnote' id=ftn1>"
                 "<p class=MsoFootnoteText><a href='#_ftnref1' name='_ftn1'>[1]</a> Note.</p></div>"
                 "</div>"),
            "A b.");
  EXPECT_EQ(html("<p>A<a class='sdfootnoteanc' name='sdfootnote1anc' href='#sdfootnote1sym'><sup>1"
                 "</sup></a> b.</p><div id='sdfootnote1'><p class='sdfootnote'><a "
                 "class='sdfootnotesym' name='sdfootnote1sym' href='#sdfootnote1anc'>1</a>Note.</p>"
                 "</div>"),
            "A b.");
  EXPECT_EQ(html("<p>A<a href='#_edn1' name='_ednref1'>[i]</a> b.</p><hr><p><a href='#_ednref1' "
                 "name='_edn1'>[i]</a> Note.</p>"),
            "A b.");
}

TEST(Notes, OfMediaWiki) {
  EXPECT_EQ(
      html("<p>It burned<sup id='cite_ref-a_1-0' class='reference'><a href='#cite_note-a-1'>[1]</a>"
           "</sup> and<sup id='cite_ref-a_1-1'><a href='#cite_note-a-1'>[1]</a></sup> fell.<sup "
           "class='noprint'>[<i><a href='/wiki/X'>citation needed</a></i>]</sup><sup>[<i>who?</i>]"
           "</sup></p><h2>References<span class='mw-editsection'>[edit]</span></h2><div "
           "class='mw-references-wrap'><ol class='references'><li id='cite_note-a-1'>^ <sup><a "
           "href='#cite_ref-a_1-0'>a</a></sup> <sup><a href='#cite_ref-a_1-1'>b</a></sup> Smith."
           "</li></ol></div><p>End.</p>"),
      "It burned and fell.|End.");
}

TEST(Notes, ByPlainNumbersAreProvenByTheirText) {
  EXPECT_EQ(html("<p>The king<a href='#n1'>1</a> rode, the queen<a href='#n2'>2</a> stayed.</p>"
                 "<p id='n1'>1. A note.</p><p id='n2'>2. Another.</p><p>More.</p>"),
            "The king rode, the queen stayed.|More.");
  EXPECT_EQ(html("<p>The king<a href='#a'>a</a> rode.</p><p><a id='a'></a>(a) A note.</p>"),
            "The king rode.");
}

TEST(Notes, MarksOfNotesThatAreNotThereAreLeftOut) {
  EXPECT_EQ(html("<p>He won<a href='notes.html#n5'>5</a>, <a href='ch5.html#c5'>5</a> and "
                 "G<a href='https://example.org/#20'>20</a>, cost<sup>(a)</sup>.</p>"),
            "He won, 5 and G20, cost.");
}

TEST(Notes, ByAsterisksAndDaggers) {
  EXPECT_EQ(html("<p>The page<a href='#a1'>*</a> ran, the cook<a href='#a2'>\u2020</a> sang.</p>"
                 "<p id='a1'>* One.</p><p id='a2'>\u2020 Two.</p>"),
            "The page ran, the cook sang.");
}

TEST(Notes, OfSeveralParagraphsAreNotesToTheirLast) {
  EXPECT_EQ(html("<p>A<sup><a href='#n1'>1</a></sup> b<sup><a href='#n2'>2</a></sup>.</p>"
                 "<h2>Notes</h2><p id='n1'>1. First.</p><p>It goes on.</p><p id='n2'>2. Second.</p>"
                 "<h2>About</h2><p>Me.</p>"),
            "A b.|About|Me.");
}

TEST(Notes, BehindEachParagraphLeaveTheTextBetweenThem) {
  EXPECT_EQ(
      html("<p>A<sup><a href='#n1'>1</a></sup> b.</p><p id='n1'>1. First.</p><p>Text goes "
           "on.</p><p>C<sup><a href='#n2'>2</a></sup>.</p><p id='n2'>2. Second.</p><p>End.</p>"),
      "A b.|Text goes on.|C.|End.");
}

TEST(Notes, SeveralAtOnePlaceGoTogether) {
  EXPECT_EQ(
      html(
          "<p>A<sup><a href='#n1'>1</a>, <a href='#n2'>2</a></sup> b [<a href='#n1'>1</a>, <a "
          "href='#n2'>2</a>] c (<a href='#n2'>2</a>).</p><p id='n1'>1. X.</p><p id='n2'>2. Y.</p>"),
      "A b c (2).");
}

TEST(Notes, WithinAParagraphLeaveItWhole) {
  EXPECT_EQ(html("<p>The king<aside epub:type='footnote' id='n'><p>No.</p></aside> left.</p>"),
            "The king left.");
  EXPECT_EQ(html("<p>The king<span class='footnote'>Henry, that is.</span> left.</p>"),
            "The king left.");
}

TEST(Links, ThatAreNoNotesAreRead) {
  // Cross references, and what they lead to.
  for (const char* page :
       {"<p>See chapter <a href='#c3'>3</a>.</p><h2 id='c3'>3</h2><p>It rained.</p>",
        "<p>See chapter <a href='#c3'>3</a>.</p><p id='c3'>3. The Storm</p><p>It rained.</p>",
        "<p>As in step <a href='#s2'>2</a>.</p><ol><li id='s1'>One</li><li id='s2'>Two</li></ol>",
        "<p>See figure <a href='#f'>1</a> and (<a href='#e'>2</a>).</p><p id='f'>Figure 1: "
        "Rain.</p>"
        "<p id='e'>x = y (2)</p>",
        "<p>See <a href='#top'>above</a>.</p><p id='top'>Text here.</p>"}) {
    const std::string without_links = [&] {
      std::string text = page;
      for (size_t at = text.find("href"); at != std::string::npos; at = text.find("href")) {
        text.replace(at, 4, "data");
      }
      return html(text);
    }();
    EXPECT_EQ(html(page), without_links) << page;
  }
  // Tables of contents.
  EXPECT_EQ(
      html("<p><a href='#c1' id='t1'>1</a> <a href='#c2' id='t2'>2</a></p><p id='c1'><a "
           "href='#t1'>1</a>. The Storm</p><p>It rained.</p><p id='c2'><a href='#t2'>2</a>. The "
           "Calm</p><p>It stopped.</p>"),
      "1 2|1. The Storm|It rained.|2. The Calm|It stopped.");
  EXPECT_EQ(
      html("<ul><li><a href='#c1'>I</a></li><li><a href='#c2'>II</a></li></ul><h2 id='c1'>I</h2>"
           "<p>It rained.</p><h2 id='c2'>II</h2><p>It stopped.</p>"),
      "I|II|I|It rained.|II|It stopped.");
  // A chapter of the author's notes, and one that a raised number leads to.
  EXPECT_EQ(html("<h2>Notes</h2><p>I wrote this book in spring.</p>"),
            "Notes|I wrote this book in spring.");
  EXPECT_EQ(
      html("<p>Text<sup><a href='#c2'>2</a></sup></p><div id='c2'><h2>Two</h2><p>More.</p></div>"),
      "Text|Two|More.");
}

TEST(Notes, InAFileOfTheirOwnAreLeftOutWithTheirHeadings) {
  const std::string one =
      "<h1>One</h1><p>The king<a epub:type='noteref' href='notes.xhtml#n1'>1</a> left.<sup><a "
      "href='notes.xhtml#n2'>2</a></sup></p>";
  const std::string notes =
      "<h1>Notes</h1><h2>One</h2><p id='n1'>1. First note.</p><p id='n2'>2. Second note.</p>"
      "<p>Its end.</p>";
  const std::string two = "<h1>Two</h1><p>It rained.</p>";
  const std::vector<BookPage> pages = {
      {"one.xhtml", one}, {"two.xhtml", two}, {"notes.xhtml", notes}};
  const std::vector<BookPage> beside = {
      {"one.xhtml", one}, {"two.xhtml", two}, {"notes.xhtml", notes, false}};
  EXPECT_EQ(said(book_of(beside)), "One|The king left.|Two|It rained.");
  EXPECT_EQ(said(book_of(beside, NoteReading::End)),
            "One|The king left.|Note 1: First note.|Note 2: Second note. Its end.|Two|It rained.");
  EXPECT_EQ(said(book_of(beside, NoteReading::Inline)),
            "One|The king (First note) left. (Second note. Its end.)|Two|It rained.");
  const Document listed = book_of(pages);
  EXPECT_EQ(said(listed), "One|The king left.|Two|It rained.");
}

TEST(Notes, AreReadAtTheEndOfTheirChapter) {
  const char* page =
      "<h2>One</h2><p>A<sup><a href='#n1' id='r1'>1</a></sup> b.</p><p>C<sup><a href='#n2' "
      "id='r2'>2</a></sup> d<sup><a href='#n1'>1</a></sup>.</p><h2>Two</h2><p>E<a "
      "href='#n3'>*</a>.</p>"
      "<div class='footnotes'><p id='n1'><a href='#r1'>1</a>. First <i>note</i>. <a "
      "href='#r1'>\u21A9"
      "</a></p><p id='n2'><a href='#r2'>[2]</a> Second &amp; last.</p><p id='n3'>* "
      "Third.</p></div>";
  EXPECT_EQ(html(page, NoteReading::End),
            "One|A b.|C d.|Note 1: First note.|Note 2: Second & last.|Two|E.|Third.");
  EXPECT_EQ(html(page, NoteReading::Inline),
            "One|A (First note) b.|C (Second & last) d.|Two|E (Third).");
  EXPECT_EQ(html(page), "One|A b.|C d.|Two|E.");
}

TEST(Notes, WithoutAMarkAreReadWhereTheyStand) {
  const char* page = "<p>Text.</p><p class='footnote'>A note.</p><p>More.</p>";
  EXPECT_EQ(html(page), "Text.|More.");
  EXPECT_EQ(html(page, NoteReading::End), "Text.|A note.|More.");
  EXPECT_EQ(html(page, NoteReading::Inline), "Text.|A note.|More.");
}

TEST(Notes, WithoutLinksAreKnownByTheRaisedNumberThatTheyBeginWith) {
  const char* page =
      "<p>The king left<sup>1</sup> at dawn<sup>b</sup>. It was 5 m<sup>2</sup> wide.</p><p>He "
      "rode.</p><hr/><p><sup>1</sup> Henry.</p><p><sup>b</sup>Of June.</p>";
  EXPECT_EQ(html(page), "The king left at dawn. It was 5 m\u00B2 wide.|He rode.");
  EXPECT_EQ(html(page, NoteReading::Inline),
            "The king left (Henry) at dawn (Of June). It was 5 m\u00B2 wide.|He rode.");
  EXPECT_EQ(
      html("<table><tr><td>Ten<sup>a</sup></td></tr></table><p class='tablenote'><sup>a</sup> "
           "Men.</p>"),
      "Ten");
  // An isotope and a power are none.
  EXPECT_EQ(html("<p>It grew by x<sup>2</sup>.</p><p><sup>2</sup>H is heavy.</p>"),
            "It grew by x\u00B2.|H is heavy.");
}

TEST(Notes, ThatSayInWordsWhatTheyAre) {
  const char* page =
      "<p>He left[1] and rode[*].</p><p>[Footnote 1: Henry.]</p><p>[Footnote: On a horse,</p><p>of "
      "course.]</p><p>[Note: The door is locked.]</p>";
  EXPECT_EQ(html(page), "He left and rode.|[Note: The door is locked.]");
  EXPECT_EQ(html(page, NoteReading::End),
            "He left and rode.|[Note: The door is locked.]|Note 1: Henry.|On a horse, of course.");
  EXPECT_EQ(said(read_plain_text("He left[*].\n\n[Footnote *: Henry.]\n\nThen.")),
            "He left.|Then.");
}

TEST(Notes, WithinTheTextAndBesideIt) {
  const char* latex =
      "<p>He left<span class='ltx_note ltx_role_footnote'><sup class='ltx_note_mark'>1</sup><span "
      "class='ltx_note_outer'><span class='ltx_note_content'><sup class='ltx_note_mark'>1</sup>"
      "<span class='ltx_tag ltx_tag_note'>1</span>Henry.</span></span></span> at dawn.</p>";
  EXPECT_EQ(html(latex), "He left at dawn.");
  EXPECT_EQ(html(latex, NoteReading::Inline), "He left (Henry) at dawn.");
  EXPECT_EQ(html("<p>He left<span class='sidenote'>Henry.</span> at dawn.</p>"),
            "He left at dawn.");
  EXPECT_EQ(html("<p>He left<a class='msocomanchor' href='#_msocom_1' id='_anchor_1'>[AB1]</a> at "
                 "dawn.</p><div class='msocomtxt'><p><a name='_msocom_1'></a><a class='msocomoff' "
                 "href='#_anchor_1'>[AB1]</a>Who?</p></div>"),
            "He left at dawn.");
  EXPECT_EQ(html("<p>He left.<sup class='reference'><a href='#c'>[1]</a></sup><sup "
                 "class='reference'><span>: 12 </span></sup> Then.</p><ol><li id='c'>Henry.</li>"
                 "</ol>"),
            "He left. Then.");
  // Hidden until its mark is touched.
  EXPECT_EQ(html("<p>He left<a epub:type='noteref' href='#n'>1</a>.</p><aside epub:type='footnote' "
                 "id='n' hidden='hidden'><p>Henry.</p></aside>",
                 NoteReading::End),
            "He left.|Note 1: Henry.");
  EXPECT_EQ(html("<p>He left<a id='a' href='#b'><sup>1</sup></a>.</p><dl class='footnote' id='b'>"
                 "<dt>[<a href='#a'>\u21901</a>]</dt><dd><p>Henry.</p></dd></dl>",
                 NoteReading::End),
            "He left.|Note 1: Henry.");
  EXPECT_EQ(said(book_of({{"a", "<p>He left<a href='n#n1'>1</a>.</p>"},
                          {"n", "<p id='n1'>Henry.</p>", false}})),
            "He left.");
}

TEST(Notes, OfMarkdownAreLeftOutOrRead) {
  const char* page =
      "# One\n\nThe king[^1] left.^[In spring.] `[^1]`\n\n[^1]: Henry,\n    that is.\n\n# Two\n\n"
      "The queen[^q].\n\n[^q]: Anne.\n";
  EXPECT_EQ(said(read_markdown(page)), "One|The king left. [^1]|Two|The queen.");
  EXPECT_EQ(said(read_markdown(page, NoteReading::Inline)),
            "One|The king (Henry, that is.) left. (In spring.) [^1]|Two|The queen (Anne.).");
  EXPECT_EQ(said(read_markdown(page, NoteReading::End)),
            "One|The king left. [^1]|Note 1: Henry, that is.|Note 2: In spring.|Two|The "
            "queen.|Note 3: Anne.");
}

TEST(Notes, OfPlainTextsOfProjectGutenberg) {
  const char* page =
      "CHAPTER I\n\nThe king[1] left. He[2] rode.\n\nFOOTNOTES:\n\n[Footnote 1: "
      "Henry.]\n\n[Footnote "
      "2: The king,\n\nof course.]\n\nCHAPTER II\n\nIt rained[1].\n\n[Footnote 1: In spring.]\n";
  EXPECT_EQ(said(read_plain_text(page)), "CHAPTER I|The king left. He rode.|CHAPTER II|It rained.");
  EXPECT_EQ(
      said(read_plain_text(page, NoteReading::End)),
      "CHAPTER I|The king left. He rode.|Note 1: Henry.|Note 2: The king, of course.|CHAPTER II|It "
      "rained.|Note 1: In spring.");
  EXPECT_EQ(
      said(read_plain_text(page, NoteReading::Inline)),
      "CHAPTER I|The king (Henry.) left. He (The king, of course.) rode.|CHAPTER II|It rained "
      "(In spring.).");
}

}  // namespace
}  // namespace mynah
