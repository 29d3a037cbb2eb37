#include "text/documents/pdf.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/process.h"

namespace mynah {
namespace {

using Page = std::vector<std::string>;

constexpr size_t kMostBytes = size_t{64} << 20U;
constexpr std::chrono::minutes kPatience{2};

std::vector<Page> split_pages(std::string_view text) {
  std::vector<Page> pages(1);
  std::string line;
  const auto end_line = [&] {
    while (line.ends_with(' ') || line.ends_with('\r')) {
      line.pop_back();
    }
    pages.back().push_back(std::move(line));
    line.clear();
  };
  for (const char c : text) {
    if (c == '\n' || c == '\f') {
      end_line();
    } else {
      line += c;
    }
    if (c == '\f') {
      pages.emplace_back();
    }
  }
  end_line();
  return pages;
}

// A line without its digits: page numbers and running heads are equal from page to page then.
std::string shape(const std::string& line) {
  std::string out;
  for (const char c : line) {
    if (c >= '0' && c <= '9') {
      if (!out.ends_with('#')) {
        out += '#';
      }
    } else if (c != ' ' && c != '\t') {
      out += c;
    }
  }
  return out;
}

std::string* edge_line(Page& page, bool top) {
  const auto filled = [](const std::string& line) { return !line.empty(); };
  if (top) {
    const auto found = std::ranges::find_if(page, filled);
    return found == page.end() ? nullptr : &*found;
  }
  const auto found = std::find_if(page.rbegin(), page.rend(), filled);
  return found == page.rend() ? nullptr : &*found;
}

// Running heads and feet, and page numbers.
void leave_out_edges(std::vector<Page>& pages) {
  for (const bool top : {true, false}) {
    std::map<std::string, size_t> counts;
    for (Page& page : pages) {
      if (const std::string* line = edge_line(page, top)) {
        ++counts[shape(*line)];
      }
    }
    for (Page& page : pages) {
      std::string* const line = edge_line(page, top);
      // Heads of left and right pages differ: a third of them alike is enough.
      if (line != nullptr && (shape(*line) == "#" || (counts[shape(*line)] > 2 &&
                                                      counts[shape(*line)] * 3 > pages.size()))) {
        line->clear();
      }
    }
  }
}

bool is_small_letter(char c) {
  return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

Result<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 1 << 15> block{};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    MYNAH_TRY(const bool ready, wait_readable(fd, std::max(left, std::chrono::milliseconds(0))));
    const ssize_t got = ready ? ::read(fd, block.data(), block.size()) : -1;
    if (ready && got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 || text.size() > kMostBytes) {
      return fail(ErrorCode::InvalidInput, "pdftotext took too long over it, or found too much");
    }
    if (got == 0) {
      return text;
    }
    text.append(block.data(), static_cast<size_t>(got));
  }
}

}  // namespace

std::string join_pages(std::string_view text) {
  std::vector<Page> pages = split_pages(text);
  leave_out_edges(pages);
  std::string out;
  for (const Page& page : pages) {
    bool begun = false;
    for (const std::string& line : page) {
      if (line.empty()) {
        // A page's first and last lines may be of a paragraph that goes on.
        out += begun && !out.ends_with("\n\n") && !out.empty() ? "\n" : "";
        continue;
      }
      const bool cut = out.size() > 2 && out.ends_with("-\n") && is_small_letter(line.front()) &&
                       is_small_letter(out[out.size() - 3]);
      if (cut) {
        out.resize(out.size() - 2);
      }
      out += line + "\n";
      begun = true;
    }
    while (out.ends_with("\n\n")) {
      out.pop_back();
    }
    const size_t last = out.find_last_not_of('\n');
    const bool ended = last != std::string::npos &&
                       std::string_view(".!?:\"").find(out[last]) != std::string_view::npos;
    out += ended ? "\n" : "";
  }
  return out;
}

Result<Document> read_pdf(const std::string& path) {
  const auto program = find_program("pdftotext");
  if (!program) {
    return fail(ErrorCode::Environment,
                path + ": a PDF is read by pdftotext, which is not here; install poppler-utils");
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::NotFound, path + ": no such file");
  }
  MYNAH_TRY(Pipe pipe, Pipe::create());
  ProcessSpec spec;
  spec.program = *program;
  // A name that begins with "-" would be taken for an option.
  spec.arguments = {
      "-enc", "UTF-8", "-eol", "unix", std::filesystem::absolute(path, error).string(), "-"};
  spec.descriptors = {{pipe.write_end.get(), 1}};
  spec.environment = inherited_environment();
  MYNAH_TRY(Process process, Process::spawn(spec));
  pipe.write_end.reset();
  auto text = read_all(pipe.read_end.get());
  if (!text) {
    return std::unexpected(std::move(text).error().while_doing(path));
  }
  MYNAH_TRY(const auto end, process.wait(kPatience));
  if (!end || !end->ok()) {
    return fail(ErrorCode::InvalidInput,
                path + ": pdftotext does not read it: it is damaged, locked, or no PDF");
  }
  if (text->find_first_not_of(" \t\r\n\f") == std::string::npos) {
    return fail(ErrorCode::InvalidInput,
                path + ": has no text: its pages are pictures, which would need recognition first");
  }
  return read_plain_text(join_pages(*text));
}

}  // namespace mynah
