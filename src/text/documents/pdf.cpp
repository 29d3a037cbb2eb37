#include "text/documents/pdf.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/process.h"
#include "text/documents/pdf_layout.h"
#include "text/documents/pdf_words.h"

namespace mynah {
namespace {

constexpr size_t kMostLayoutBytes = size_t{64} << 20U;
constexpr std::chrono::minutes kPatience{2};

Result<std::vector<PdfPage>> read_all(int fd) {
  PdfLayoutReader layout;
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
    if (got < 0 || layout.bytes() > kMostLayoutBytes) {
      return fail(ErrorCode::InvalidInput, "pdftotext took too long over it, or found too much");
    }
    if (got == 0) {
      return layout.finish();
    }
    layout.push(std::string_view(block.data(), static_cast<size_t>(got)));
  }
}

}  // namespace

Result<Document> read_pdf(const std::string& path, NoteReading how, const KnownWord& is_word) {
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
  spec.arguments = {"-bbox-layout", "-enc", "UTF-8",
                    std::filesystem::absolute(path, error).string(), "-"};
  spec.descriptors = {{pipe.write_end.get(), 1}};
  spec.environment = inherited_environment();
  MYNAH_TRY(Process process, Process::spawn(spec));
  pipe.write_end.reset();
  auto pages = read_all(pipe.read_end.get());
  if (!pages) {
    return std::unexpected(std::move(pages).error().while_doing(path));
  }
  MYNAH_TRY(const auto end, process.wait(kPatience));
  if (!end || !end->ok()) {
    return fail(ErrorCode::InvalidInput,
                path + ": pdftotext does not read it: it is damaged, locked, or no PDF");
  }
  if (std::ranges::all_of(*pages, [](const PdfPage& page) { return page.lines.empty(); })) {
    return fail(ErrorCode::InvalidInput,
                path + ": has no text: its pages are pictures, which would need recognition first");
  }
  leave_out_edges(*pages);
  const PdfLineJoiner lines(*pages, is_word);
  take_footnotes(*pages, how, lines);
  return read_plain_text(text_of_pages(*pages, lines), how);
}

}  // namespace mynah
