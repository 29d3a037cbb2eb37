#include "text/documents/epub_package.h"

#include <optional>

#include "base/ascii.h"
#include "text/documents/links.h"
#include "text/documents/tags.h"

namespace mynah {
namespace {

constexpr size_t kMostPages = 10000;

void add_entry(Contents& contents, const std::string& base, std::string_view link,
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
  contents[resolve_link(base, link)].push_back({.anchor = anchor_of(link), .title = line});
}

}  // namespace

EpubPackage read_epub_package(const std::string& path, const std::string& text) {
  EpubPackage package;
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
          .path = resolve_link(path, tag->attribute("href")),
          .media_type = std::string(tag->attribute("media-type")),
          .properties = std::string(tag->attribute("properties"))};
    } else if (tag->name == "spine") {
      package.toc = tag->attribute("toc");
    } else if (tag->name == "itemref" &&
               package.spine.size() + package.beside.size() < kMostPages) {
      (tag->attribute("linear") == "no" ? package.beside : package.spine)
          .emplace_back(tag->attribute("idref"));
    }
  }
  return package;
}

Contents contents_of_navigation(const std::string& base, const std::string& text) {
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

Contents contents_of_ncx(const std::string& base, const std::string& text) {
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

}  // namespace mynah
