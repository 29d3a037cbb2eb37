#include "store/server_promise.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/ascii.h"
#include "store/sha256.h"

namespace mynah {
namespace {

// The text of an ETag; weak ones name no exact bytes and are nothing here.
std::string strong_tag(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    return std::string(etag.substr(1, etag.size() - 2));
  }
  return "";
}

std::string unquoted(std::string_view etag) {
  if (etag.starts_with("W/")) {
    etag.remove_prefix(2);
  }
  const std::string tag = strong_tag(etag);
  return tag.empty() ? std::string(etag) : tag;
}

std::string get_header(const std::map<std::string, std::string>& headers, const char* name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

bool is_git_blob_name(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, is_small_hex_digit);
}

}  // namespace

std::optional<uint64_t> parse_digits(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

ContentRange parse_content_range(std::string_view text) {
  ContentRange range;
  if (!text.starts_with("bytes ")) {
    return range;
  }
  text.remove_prefix(6);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return range;
  }
  range.total = parse_digits(text.substr(slash + 1));
  range.start = parse_digits(text.substr(0, text.find('-')));
  return range;
}

ServerPromise promise_of(const HttpResponse& response) {
  ServerPromise promise;
  const auto& first = response.first_headers;
  const std::string linked = unquoted(get_header(first, "x-linked-etag"));
  if (is_sha256(linked)) {
    promise.sha256 = linked;
  } else if (const std::string tag = unquoted(get_header(first, "etag")); is_git_blob_name(tag)) {
    promise.git_blob = tag;
  }
  promise.revision = get_header(first, "x-repo-commit");
  promise.etag = strong_tag(response.header("etag")).empty() ? "" : response.header("etag");
  if (const auto size = parse_digits(get_header(first, "x-linked-size"))) {
    promise.size = *size;
  } else if (response.status == 206) {
    promise.size = parse_content_range(response.header("content-range")).total.value_or(0);
  } else {
    promise.size = response.content_length().value_or(0);
  }
  return promise;
}

std::string lfs_pointer_digest(std::string_view text) {
  constexpr std::string_view kFirstLine = "version https://git-lfs.github.com/spec/v1\n";
  constexpr std::string_view kKey = "\noid sha256:";
  const size_t key = text.find(kKey);
  if (!text.starts_with(kFirstLine) || key == std::string_view::npos) {
    return "";
  }
  const std::string digest(text.substr(key + kKey.size(), 64));
  return is_sha256(digest) ? digest : "";
}

}  // namespace mynah
