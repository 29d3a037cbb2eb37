#include "audio/joined_reader.h"

#include <utility>

#include <fmt/format.h>

#include "audio/joined.h"

namespace mynah {
namespace {

// Each is decoded by a process of its own.
constexpr int kMostJoined = 1000;
// Less is a tag of a kind that is not known, or a remainder.
constexpr int64_t kLeastTold = 4096;

class JoinedReader final : public FrameReader {
 public:
  JoinedReader(std::unique_ptr<FrameReader> first, InputFile input, MediaOptions options)
      : current_(std::move(first)), input_(std::move(input)), options_(std::move(options)) {
    options_.start_s = 0;  // of the first alone
  }

  [[nodiscard]] int rate_hz() const override { return current_->rate_hz(); }

  [[nodiscard]] int channels() const override { return current_->channels(); }

  [[nodiscard]] std::span<const Speaker> speakers() const override { return current_->speakers(); }

  [[nodiscard]] AudioTracks tracks() const override { return current_->tracks(); }

  [[nodiscard]] std::optional<int64_t> frames() const override { return current_->frames(); }

  Result<size_t> read(std::span<float> out) override { return current_->read(out); }

  Result<int64_t> skip(int64_t count) override { return current_->skip(count); }

  Result<bool> next() override {
    MYNAH_TRY(const bool its_own, current_->next());
    if (its_own) {
      return true;
    }
    const Behind behind =
        look_behind(read_at_of(input_.fd.get()), input_.size_bytes, options_.offset);
    if (!behind.next || ++joined_ > kMostJoined) {
      note(behind.next ? input_.size_bytes - *behind.next : behind.unknown_bytes);
      return false;
    }
    options_.offset = *behind.next;
    const Behind its = look_behind(read_at_of(input_.fd.get()), input_.size_bytes, options_.offset);
    options_.bytes = its.next.value_or(input_.size_bytes) - options_.offset;
    MYNAH_TRY(InputFile rest, duplicate(input_));
    MYNAH_TRY(current_, open_with_media(std::move(rest), options_));
    return true;
  }

 private:
  void note(int64_t bytes) const {
    if (bytes >= kLeastTold && options_.note) {
      options_.note(
          fmt::format("{} KB follow its samples and are not heard: they begin as no "
                      "recording that mynah knows",
                      bytes / 1024));
    }
  }

  std::unique_ptr<FrameReader> current_;
  InputFile input_;
  MediaOptions options_;
  int joined_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameReader>> with_joined(std::unique_ptr<FrameReader> first,
                                                 const InputFile& input, MediaOptions options) {
  MYNAH_TRY(InputFile copy, duplicate(input));
  return std::make_unique<JoinedReader>(std::move(first), std::move(copy), std::move(options));
}

}  // namespace mynah
