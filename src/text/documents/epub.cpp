#include "text/documents/epub.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/zip.h"
#include "text/documents/epub_package.h"
#include "text/documents/html.h"
#include "text/documents/links.h"
#include "text/documents/notes.h"
#include "text/documents/tags.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr uint64_t kMostPageBytes = uint64_t{32} << 20U;
constexpr uint64_t kMostBookBytes = uint64_t{256} << 20U;
constexpr size_t kMostWarnings = 10;

// UTF-16, which XML may be in, by its byte order mark.
std::string to_utf8_text(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool little = text.starts_with("\xFF\xFE");
  if (!little && !text.starts_with("\xFE\xFF")) {
    return std::string(text);
  }
  std::string out;
  char32_t high = 0;
  for (size_t i = 2; i + 1 < text.size(); i += 2) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const auto unit = static_cast<char32_t>(little ? second << 8 | first : first << 8 | second);
    if (unit >= 0xD800 && unit < 0xDC00) {
      high = unit;
    } else if (unit >= 0xDC00 && unit < 0xE000 && high != 0) {
      append_utf8(out, 0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00));
      high = 0;
    } else {
      append_utf8(out, unit);
    }
  }
  return out;
}

class EpubReader {
 public:
  EpubReader(ZipArchive archive, NoteReading how) : archive_(std::move(archive)), how_(how) {}

  Result<Document> read() {
    MYNAH_TRY_STATUS(check_is_readable());
    MYNAH_TRY(const std::string container, text_of("META-INF/container.xml"));
    MYNAH_TRY(const std::string path, package_path(container));
    MYNAH_TRY(const std::string package_text, text_of(path));
    const EpubPackage package = read_epub_package(path, package_text);
    if (package.spine.empty()) {
      return wrong("its package names no pages to read");
    }
    const Contents contents = read_contents(package);
    Document book = package.facts;
    MYNAH_TRY(const std::vector<std::string> paths, add_pages(package));
    MYNAH_TRY_STATUS(add_notes(package));
    finder_.find();
    const std::vector<std::string> notes =
        how_ == NoteReading::End ? finder_.notes(book.language) : std::vector<std::string>();
    ChapterBuilder chapters(notes);
    std::vector<HtmlPage> pages;  // where nothing names chapters
    for (size_t i = 0; i < paths.size(); ++i) {
      const std::string text = finder_.page_without(i, how_);
      if (contents.empty()) {
        pages.push_back(read_html_page(text));
      } else {
        add_page(paths[i], text, contents, chapters);
      }
    }
    book.chapters =
        pages.empty() ? chapters.finish() : chapters_of(pages, book.title, std::move(chapters));
    book.warnings = std::move(warnings_);
    if (missing_ > kMostWarnings) {
      book.warnings.push_back(
          fmt::format("{} more pages of the book are missing", missing_ - kMostWarnings));
    }
    std::erase_if(book.chapters, [](const Chapter& chapter) { return chapter.text.empty(); });
    return book;
  }

 private:
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted an EPUB, found an archive that is none: {}",
                            archive_.path(), what));
  }

  // Books that are sold encrypted say so in a file of their own; fonts alone may be scrambled.
  Status check_is_readable() {
    if (archive_.find("META-INF/rights.xml") != nullptr ||
        archive_.find("META-INF/sinf.xml") != nullptr) {
      return fail(ErrorCode::Unsupported,
                  archive_.path() + ": is locked (DRM), and only its shop's reader opens it");
    }
    return {};
  }

  Result<std::string> text_of(const std::string& name) {
    const ZipMember* const member = archive_.find(name);
    if (member == nullptr) {
      return wrong(fmt::format("'{}' is not in it", name));
    }
    unpacked_ += member->bytes;
    if (member->bytes > kMostPageBytes || unpacked_ > kMostBookBytes) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("{}: '{}' unpacks to {} MB; wanted pages of at most {} MB, {} MB in all",
                      archive_.path(), name, member->bytes >> 20U, kMostPageBytes >> 20U,
                      kMostBookBytes >> 20U));
    }
    MYNAH_TRY(const ZipBytes bytes, archive_.read(*member));
    return to_utf8_text(bytes.bytes);
  }

  Result<std::string> package_path(const std::string& container) {
    TagReader tags(container);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Open && tag->name == "rootfile" &&
          !tag->attribute("full-path").empty()) {
        return resolve_link("", tag->attribute("full-path"));
      }
    }
    return wrong("META-INF/container.xml names no package");
  }

  Contents read_contents(const EpubPackage& package) {
    std::string lacking;
    for (const auto& [id, item] : package.items) {
      if (has_word(item.properties, "nav")) {
        if (const auto text = text_of(item.path)) {
          return contents_of_navigation(item.path, *text);
        }
        lacking = item.path;
      }
    }
    const auto toc = package.items.find(package.toc);
    if (toc != package.items.end()) {
      if (const auto text = text_of(toc->second.path)) {
        return contents_of_ncx(toc->second.path, *text);
      }
      lacking = toc->second.path;
    }
    if (!lacking.empty()) {
      warnings_.push_back(fmt::format(
          "its table of contents '{}' is missing: chapters are told by headings", lacking));
    }
    return {};
  }

  // Hands the pages of the spine to the finder, and gives their paths.
  Result<std::vector<std::string>> add_pages(const EpubPackage& package) {
    std::vector<std::string> paths;
    for (const std::string& id : package.spine) {
      const auto item = package.items.find(id);
      if (item == package.items.end()) {
        miss(id, "the book's list of files has no such name");
        continue;
      }
      const std::string& path = item->second.path;
      if (has_word(item->second.properties, "nav")) {
        continue;
      }
      if (archive_.find(path) == nullptr) {
        miss(path, "it is not in the archive");
        continue;
      }
      MYNAH_TRY(std::string text, text_of(path));
      finder_.add_page(path, replace_invalid_utf8(text));
      paths.push_back(path);
    }
    return paths;
  }

  // Pages that marks of notes lead to and that are not in the order of reading.
  Status add_notes(const EpubPackage& package) {
    std::vector<std::string> wanted = finder_.wanted_pages();
    for (const std::string& id : package.beside) {
      if (const auto item = package.items.find(id); item != package.items.end()) {
        wanted.push_back(item->second.path);
      }
    }
    for (const std::string& path : wanted) {
      if (archive_.find(path) != nullptr && !finder_.has_page(path)) {
        MYNAH_TRY(std::string text, text_of(path));
        finder_.add_page(path, replace_invalid_utf8(text), true);
      }
    }
    return {};
  }

  // A page that the book names and lacks: the others can be read.
  void miss(std::string_view page, std::string_view why) {
    if (++missing_ <= kMostWarnings) {
      warnings_.push_back(fmt::format("page '{}' of the book is missing: {}", page, why));
    }
  }

  // The titles of the chapters that begin at blocks of a page. Of several at one block the first
  // counts. An entry without a place begins with the page, so does the first where the page lacks
  // its place, and where headings alone stand before it.
  static std::map<size_t, std::string> chapters_in(const HtmlPage& page,
                                                   std::span<const ContentsEntry> entries) {
    std::map<std::string_view, size_t> places;
    for (size_t i = 0; i < page.blocks.size(); ++i) {
      for (const std::string& anchor : page.blocks[i].anchors) {
        places.emplace(anchor, i);
      }
    }
    std::map<size_t, std::string> titles;
    for (const ContentsEntry& entry : entries) {
      const auto place = places.find(entry.anchor);
      if (place != places.end()) {
        titles.emplace(place->second, entry.title);
      } else if (entry.anchor.empty() || &entry == entries.data()) {
        titles.emplace(0, entry.title);
      }
    }
    const size_t first = titles.empty() ? 0 : titles.begin()->first;
    if (first > 0 &&
        std::all_of(page.blocks.begin(), page.blocks.begin() + static_cast<long>(first),
                    [](const HtmlBlock& block) { return block.heading > 0; })) {
      titles.emplace(0, titles.begin()->second);
      titles.erase(first);
    }
    return titles;
  }

  static void add_page(const std::string& path, const std::string& text, const Contents& contents,
                       ChapterBuilder& chapters) {
    const auto listed = contents.find(path);
    const std::span<const ContentsEntry> entries =
        listed == contents.end() ? std::span<const ContentsEntry>() : std::span(listed->second);
    std::vector<std::string> anchors;
    for (const ContentsEntry& entry : entries) {
      anchors.push_back(entry.anchor);
    }
    const HtmlPage page = read_html_page(text, anchors);
    const std::map<size_t, std::string> titles = chapters_in(page, entries);
    // A page of pictures has a chapter too, of the pages that follow.
    for (size_t i = 0; i < std::max<size_t>(page.blocks.size(), 1); ++i) {
      const auto title = titles.find(i);
      if (title != titles.end() || chapters.empty()) {
        chapters.begin(title != titles.end() ? title->second : std::string());
      }
      if (i < page.blocks.size()) {
        chapters.add(page.blocks[i]);
      }
    }
  }

  // Chapters of a book without a table of contents. A page's own title is no chapter's where it is
  // the book's.
  static std::vector<Chapter> chapters_of(std::span<HtmlPage> pages, const std::string& book,
                                          ChapterBuilder chapters) {
    std::vector<HtmlBlock> blocks;
    for (const HtmlPage& page : pages) {
      blocks.insert(blocks.end(), page.blocks.begin(), page.blocks.end());
    }
    if (const int level = chapter_level(blocks); level > 0) {
      chapters.add_at_headings(blocks, level);
      return chapters.finish();
    }
    for (const HtmlPage& page : pages) {
      if (page.blocks.empty()) {
        continue;
      }
      const bool headed = page.blocks.front().heading > 0;
      const std::string& title = headed ? page.blocks.front().text : page.title;
      chapters.begin(title == book && !headed ? std::string() : title);
      for (const HtmlBlock& block : page.blocks) {
        chapters.add(block);
      }
    }
    return chapters.finish();
  }

  ZipArchive archive_;
  NoteReading how_;
  NoteFinder finder_;
  uint64_t unpacked_ = 0;
  std::vector<std::string> warnings_;
  size_t missing_ = 0;
};

}  // namespace

Result<Document> read_epub(std::shared_ptr<const MappedFile> file, NoteReading how) {
  const std::string path = file->path();
  auto archive = ZipArchive::open(std::move(file));
  if (!archive) {
    Error error = archive.error();
    if (error.message.find(path) == std::string::npos) {
      error.message = path + ": " + error.message;
    }
    return std::unexpected(std::move(error));
  }
  return EpubReader(std::move(*archive), how).read();
}

}  // namespace mynah
