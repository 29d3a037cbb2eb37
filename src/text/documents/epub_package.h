// The package of an EPUB: what it says of the book, its files, their order, and its table of
// contents.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/documents/document.h"

namespace mynah {

struct EpubItem {
  std::string path;  // in the archive
  std::string media_type;
  std::string properties;
};

struct EpubPackage {
  Document facts;  // without chapters
  std::map<std::string, EpubItem> items;
  std::vector<std::string> spine;   // ids, in the order of reading
  std::vector<std::string> beside;  // those outside of it: linear="no"
  std::string toc;                  // of the NCX
};

// A line of the table of contents.
struct ContentsEntry {
  std::string anchor;  // in the page; "": its begin
  std::string title;
};

// Entries by page, in the order of the table.
using Contents = std::map<std::string, std::vector<ContentsEntry>>;

// The package in a file of the archive (EPUB Packages 3.3; OPF 2.0.1).
[[nodiscard]] EpubPackage read_epub_package(const std::string& path, const std::string& text);

// <nav epub:type="toc"> ... <a href="page.xhtml#place">Title</a>
[[nodiscard]] Contents contents_of_navigation(const std::string& base, const std::string& text);

// <navPoint><navLabel><text>Title</text></navLabel><content src="page.xhtml#place"/>
[[nodiscard]] Contents contents_of_ncx(const std::string& base, const std::string& text);

}  // namespace mynah
