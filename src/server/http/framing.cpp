#include "server/http/framing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::server {
namespace {

auto times(const Headers& headers, std::string_view name) {
  return std::ranges::count_if(headers.fields(), [name](const Headers::Field& field) {
    return equal_but_for_case(field.first, name);
  });
}

}  // namespace

Status check_framing(const Headers& headers, bool knows_chunks) {
  const auto lengths = times(headers, "content-length");
  const auto codings = times(headers, "transfer-encoding");
  if (lengths > 0 && codings > 0) {
    return fail(ErrorCode::InvalidInput, "wanted Content-Length or Transfer-Encoding, found both");
  }
  if (lengths > 1 || codings > 1) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted one {}, found several",
                            lengths > 1 ? "Content-Length" : "Transfer-Encoding"));
  }
  const std::string_view length = headers.get("content-length");
  if (lengths > 0 && (length.empty() || !std::ranges::all_of(length, is_ascii_digit))) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("Content-Length: wanted a number, found '{}'", length));
  }
  const std::string_view coding = trimmed(headers.get("transfer-encoding"), " \t");
  if (codings > 0 && (!knows_chunks || !equal_but_for_case(coding, "chunked"))) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("Transfer-Encoding: wanted chunked, by HTTP/1.1, found '{}'", coding));
  }
  return {};
}

}  // namespace mynah::server
