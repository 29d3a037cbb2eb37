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

bool has_word(std::string_view words, std::string_view wanted) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == wanted) {
      return true;
    }
    at = end + 1;
  }
  return false;
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
    const std::map<std::string, std::string> titles = read_titles(package);
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
      if (titles.empty()) {
        pages.push_back(read_html_page(text));
      } else {
        add_page(page_path, text, titles, book);
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

  // The first title that the table of contents has for each page.
  std::map<std::string, std::string> read_titles(const Package& package) {
    std::string lacking;
    for (const auto& [id, item] : package.items) {
      if (has_word(item.properties, "nav")) {
        if (const auto text = text_of(item.path)) {
          return titles_of_navigation(item.path, *text);
        }
        lacking = item.path;
      }
    }
    const auto toc = package.items.find(package.toc);
    if (toc != package.items.end()) {
      if (const auto text = text_of(toc->second.path)) {
        return titles_of_ncx(toc->second.path, *text);
      }
      lacking = toc->second.path;
    }
    if (!lacking.empty()) {
      warnings_.push_back(fmt::format(
          "its table of contents '{}' is missing: chapters are told by headings", lacking));
    }
    return {};
  }

  static void add_title(std::map<std::string, std::string>& titles, const std::string& path,
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
    titles.emplace(path, line);
  }

  // <nav epub:type="toc"> ... <a href="page.xhtml">Title</a>
  static std::map<std::string, std::string> titles_of_navigation(const std::string& base,
                                                                 const std::string& text) {
    std::map<std::string, std::string> titles;
    bool contents = false;
    std::optional<std::string> path;
    std::string title;
    TagReader tags(text);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Text && path) {
        title += tag->text;
      } else if (tag->name == "nav") {
        contents = tag->kind == Tag::Kind::Open && has_word(tag->attribute("epub:type"), "toc");
      } else if (tag->name == "a" && tag->kind == Tag::Kind::Open && contents) {
        path = resolve(base, tag->attribute("href"));
        title.clear();
      } else if (tag->name == "a" && path) {
        add_title(titles, *path, title);
        path.reset();
      }
    }
    return titles;
  }

  // <navPoint><navLabel><text>Title</text></navLabel><content src="page.xhtml"/>
  static std::map<std::string, std::string> titles_of_ncx(const std::string& base,
                                                          const std::string& text) {
    std::map<std::string, std::string> titles;
    bool label = false;
    std::string title;
    TagReader tags(text);
    while (const auto tag = tags.next()) {
      if (tag->kind == Tag::Kind::Text && label) {
        title += tag->text;
      } else if (tag->name == "navlabel") {
        label = tag->kind == Tag::Kind::Open;
        if (label) {
          title.clear();
        }
      } else if (tag->name == "content" && tag->kind == Tag::Kind::Open) {
        add_title(titles, resolve(base, tag->attribute("src")), title);
      }
    }
    return titles;
  }

  // A page that the book names and lacks: the others can be read.
  void miss(std::string_view page, std::string_view why) {
    if (++missing_ <= kMostWarnings) {
      warnings_.push_back(fmt::format("page '{}' of the book is missing: {}", page, why));
    }
  }

  static void add_page(const std::string& path, const std::string& text,
                       const std::map<std::string, std::string>& titles, Document& book) {
    const HtmlPage page = read_html_page(text);
    const auto title = titles.find(path);
    if (title != titles.end() || book.chapters.empty()) {
      book.chapters.push_back(
          {.title = title != titles.end() ? title->second : std::string(), .text = {}});
    }
    std::string& out = book.chapters.back().text;
    for (const HtmlBlock& block : page.blocks) {
      out += (out.empty() ? "" : "\n\n") + block.text;
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
