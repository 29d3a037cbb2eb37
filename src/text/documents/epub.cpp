#include "text/documents/epub.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/zip.h"
#include "text/documents/html.h"
#include "text/documents/tags.h"
#include "text/spoken/characters.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr uint64_t kMostPageBytes = uint64_t{32} << 20U;
constexpr uint64_t kMostBookBytes = uint64_t{256} << 20U;
constexpr size_t kMostPages = 10000;
constexpr size_t kMostWarnings = 10;

struct ManifestItem {
  std::string path;  // in the archive
  std::string media_type;
  std::string properties;
};

struct Package {
  Document facts;  // without chapters
  std::map<std::string, ManifestItem> items;
  std::vector<std::string> spine;  // ids
  std::string toc;                 // of the NCX
};

// A line of the table of contents.
struct Entry {
  std::string anchor;  // in the page; "": its begin
  std::string title;
};

// By page, in the order of the table.
using Contents = std::map<std::string, std::vector<Entry>>;

int hexadecimal(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// %20 and its like in a link.
std::string unescape(std::string_view link) {
  std::string out;
  for (size_t i = 0; i < link.size(); ++i) {
    const bool escape = link[i] == '%' && i + 2 < link.size() && hexadecimal(link[i + 1]) >= 0 &&
                        hexadecimal(link[i + 2]) >= 0;
    out += escape ? static_cast<char>(hexadecimal(link[i + 1]) * 16 + hexadecimal(link[i + 2]))
                  : link[i];
    i += escape ? 2 : 0;
  }
  return out;
}

// A link from a page at `base` as a name in the archive, without what follows "#".
std::string resolve(const std::string& base, std::string_view link) {
  const std::string target = unescape(link.substr(0, link.find('#')));
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view path) {
    for (size_t at = 0; at <= path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const std::string_view part = path.substr(at, end - at);
      if (part == ".." && !parts.empty()) {
        parts.pop_back();
      } else if (!part.empty() && part != "." && part != "..") {
        parts.emplace_back(part);
      }
      at = end + 1;
    }
  };
  if (!target.starts_with('/') && base.find('/') != std::string::npos) {
    add(std::string_view(base).substr(0, base.rfind('/')));
  }
  add(target);
  std::string path;
  for (const std::string& part : parts) {
    path += (path.empty() ? "" : "/") + part;
  }
  return path;
}

// What follows "#".
std::string anchor_of(std::string_view link) {
  const size_t mark = link.find('#');
  return mark == std::string_view::npos ? std::string() : unescape(link.substr(mark + 1));
}

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
  explicit EpubReader(ZipArchive archive) : archive_(std::move(archive)) {}

  Result<Document> read() {
    MYNAH_TRY_STATUS(check_is_readable());
    MYNAH_TRY(const std::string container, text_of("META-INF/container.xml"));
    MYNAH_TRY(const std::string path, package_path(container));
    MYNAH_TRY(const std::string package_text, text_of(path));
    const Package package = read_package(path, package_text);
    if (package.spine.empty()) {
      return wrong("its package names no pages to read");
    }
    const Contents contents = read_contents(package);
    Document book = package.facts;
    std::vector<HtmlPage> pages;  // where nothing names chapters
    for (const std::string& id : package.spine) {
      const auto item = package.items.find(id);
      if (item == package.items.end()) {
        miss(id, "the book's list of files has no such name");
        continue;
      }
      const std::string& page_path = item->second.path;
      if (has_word(item->second.properties, "nav")) {
        continue;
      }
      if (archive_.find(page_path) == nullptr) {
        miss(page_path, "it is not in the archive");
        continue;
      }
      MYNAH_TRY(const std::string text, text_of(page_path));
      if (contents.empty()) {
        pages.push_back(read_html_page(text));
      } else {
        add_page(page_path, text, contents, book);
      }
    }
    if (!pages.empty()) {
      book.chapters = chapters_of(pages, book.title);
    }
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
        return resolve("", tag->attribute("full-path"));
      }
    }
    return wrong("META-INF/container.xml names no package");
  }

  static Package read_package(const std::string& path, const std::string& text) {
    Package package;
    std::string* field = nullptr;
    TagReader tags(text);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Text) {
        if (field != nullptr) {
          *field += tag->text;
        }
        continue;
      }
      field = nullptr;
      if (tag->kind == Tag::Kind::Close) {
        continue;
      }
      if (tag->name == "title" && package.facts.title.empty()) {
        field = &package.facts.title;
      } else if (tag->name == "creator" && package.facts.author.empty()) {
        field = &package.facts.author;
      } else if (tag->name == "language" && package.facts.language.empty()) {
        field = &package.facts.language;
      } else if (tag->name == "item") {
        package.items[std::string(tag->attribute("id"))] = {
            .path = resolve(path, tag->attribute("href")),
            .media_type = std::string(tag->attribute("media-type")),
            .properties = std::string(tag->attribute("properties"))};
      } else if (tag->name == "spine") {
        package.toc = tag->attribute("toc");
      } else if (tag->name == "itemref" && tag->attribute("linear") != "no" &&
                 package.spine.size() < kMostPages) {
        package.spine.emplace_back(tag->attribute("idref"));
      }
    }
    return package;
  }

  Contents read_contents(const Package& package) {
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

  static void add_entry(Contents& contents, const std::string& base, std::string_view link,
                        const std::string& title) {
    std::string line;
    for (const char c : title) {
      const bool space = is_ascii_space(c);
      if (!space || (!line.empty() && line.back() != ' ')) {
        line += space ? ' ' : c;
      }
    }
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    contents[resolve(base, link)].push_back({.anchor = anchor_of(link), .title = line});
  }

  // <nav epub:type="toc"> ... <a href="page.xhtml#place">Title</a>
  static Contents contents_of_navigation(const std::string& base, const std::string& text) {
    Contents contents;
    bool toc = false;
    std::optional<std::string> link;
    std::string title;
    TagReader tags(text);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Text && link) {
        title += tag->text;
      } else if (tag->name == "nav") {
        toc = tag->kind == Tag::Kind::Open && has_word(tag->attribute("epub:type"), "toc");
      } else if (tag->name == "a" && tag->kind == Tag::Kind::Open && toc) {
        link = tag->attribute("href");
        title.clear();
      } else if (tag->name == "a" && link) {
        add_entry(contents, base, *link, title);
        link.reset();
      }
    }
    return contents;
  }

  // <navPoint><navLabel><text>Title</text></navLabel><content src="page.xhtml#place"/>
  static Contents contents_of_ncx(const std::string& base, const std::string& text) {
    Contents contents;
    bool label = false;
    bool chapters = true;  // outside of the lists of pages and figures
    std::string title;
    TagReader tags(text);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Text && label) {
        title += tag->text;
      } else if (tag->name == "pagelist" || tag->name == "navlist") {
        chapters = tag->kind == Tag::Kind::Close;
      } else if (tag->name == "navlabel") {
        label = tag->kind == Tag::Kind::Open;
        if (label) {
          title.clear();
        }
      } else if (tag->name == "content" && tag->kind == Tag::Kind::Open && chapters) {
        add_entry(contents, base, tag->attribute("src"), title);
      }
    }
    return contents;
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
                                                   std::span<const Entry> entries) {
    std::map<std::string_view, size_t> places;
    for (size_t i = 0; i < page.blocks.size(); ++i) {
      for (const std::string& anchor : page.blocks[i].anchors) {
        places.emplace(anchor, i);
      }
    }
    std::map<size_t, std::string> titles;
    for (const Entry& entry : entries) {
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
                       Document& book) {
    const auto listed = contents.find(path);
    const std::span<const Entry> entries =
        listed == contents.end() ? std::span<const Entry>() : std::span(listed->second);
    std::vector<std::string> anchors;
    for (const Entry& entry : entries) {
      anchors.push_back(entry.anchor);
    }
    const HtmlPage page = read_html_page(text, anchors);
    const std::map<size_t, std::string> titles = chapters_in(page, entries);
    // A page of pictures has a chapter too, of the pages that follow.
    for (size_t i = 0; i < std::max<size_t>(page.blocks.size(), 1); ++i) {
      const auto title = titles.find(i);
      if (title != titles.end() || book.chapters.empty()) {
        book.chapters.push_back(
            {.title = title != titles.end() ? title->second : std::string(), .text = {}});
      }
      if (i < page.blocks.size()) {
        std::string& out = book.chapters.back().text;
        out += (out.empty() ? "" : "\n\n") + page.blocks[i].text;
      }
    }
  }

  // Chapters of a book without a table of contents. A page's own title is no chapter's where it is
  // the book's.
  static std::vector<Chapter> chapters_of(std::span<HtmlPage> pages, const std::string& book) {
    std::vector<HtmlBlock> blocks;
    for (const HtmlPage& page : pages) {
      blocks.insert(blocks.end(), page.blocks.begin(), page.blocks.end());
    }
    if (const int level = chapter_level(blocks); level > 0) {
      return chapters_at_headings(blocks, level);
    }
    std::vector<Chapter> chapters;
    for (const HtmlPage& page : pages) {
      std::vector<Chapter> one = chapters_at_headings(page.blocks, 0);
      if (one.empty()) {
        continue;
      }
      const bool headed = page.blocks.front().heading > 0;
      const std::string& title = headed ? page.blocks.front().text : page.title;
      one.front().title = title == book && !headed ? std::string() : title;
      std::ranges::replace(one.front().title, '\n', ' ');
      chapters.push_back(std::move(one.front()));
    }
    return chapters;
  }

  ZipArchive archive_;
  uint64_t unpacked_ = 0;
  std::vector<std::string> warnings_;
  size_t missing_ = 0;
};

}  // namespace

Result<Document> read_epub(std::shared_ptr<const MappedFile> file) {
  const std::string path = file->path();
  auto archive = ZipArchive::open(std::move(file));
  if (!archive) {
    Error error = archive.error();
    if (error.message.find(path) == std::string::npos) {
      error.message = path + ": " + error.message;
    }
    return std::unexpected(std::move(error));
  }
  return EpubReader(std::move(*archive)).read();
}

}  // namespace mynah
