#include "text/documents/links.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"

namespace mynah {
namespace {

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

}  // namespace

std::string resolve_link(const std::string& base, std::string_view link) {
  const std::string target = unescape(link.substr(0, link.find('#')));
  if (link.starts_with('#')) {
    return base;
  }
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

std::string anchor_of(std::string_view link) {
  const size_t mark = link.find('#');
  return mark == std::string_view::npos ? std::string() : unescape(link.substr(mark + 1));
}

bool is_outside(std::string_view link) {
  const size_t colon = link.find(':');
  return colon != std::string_view::npos && colon < link.find_first_of("/#?") &&
         std::ranges::all_of(link.substr(0, colon), is_ascii_letter);
}

}  // namespace mynah
