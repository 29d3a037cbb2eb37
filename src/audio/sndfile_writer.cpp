#include "audio/sndfile_writer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sndfile.h>

#include "audio/pcm.h"
#include "base/check.h"

namespace mynah {
namespace {

// ISO/IEC 11172-3, 13818-3 and the extension 2.5.
constexpr std::array kMpegRates = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000};
constexpr std::array kOpusRates = {8000, 12000, 16000, 24000, 48000};  // RFC 6716, 2

// The sink as a file that libsndfile can seek in. It goes back to the header when it closes a file;
// where the sink is a stream that part is lost, and the format is none the worse for it.
class VirtualFile {
 public:
  explicit VirtualFile(ByteSink& sink) : sink_(sink) {}

  static SF_VIRTUAL_IO calls() {
    return {
        .get_filelen = [](void* self) { return of(self).size_; },
        .seek = [](sf_count_t offset, int whence,
                   void* self) { return of(self).seek(offset, whence); },
        .read = [](void* /*out*/, sf_count_t /*bytes*/, void* /*self*/) -> sf_count_t { return 0; },
        .write = [](const void* bytes, sf_count_t count,
                    void* self) { return of(self).write(bytes, count); },
        .tell = [](void* self) { return of(self).position_; }};
  }

  // The first error of the sink, once.
  Status take_error() {
    if (!error_) {
      return {};
    }
    return std::unexpected(*std::exchange(error_, std::nullopt));
  }

 private:
  static VirtualFile& of(void* self) { return *static_cast<VirtualFile*>(self); }

  sf_count_t seek(sf_count_t offset, int whence) {
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position_ : size_;
    position_ = std::clamp<sf_count_t>(from + offset, 0, size_);
    return position_;
  }

  sf_count_t write(const void* data, sf_count_t count) {
    if (error_) {
      return 0;
    }
    const std::span bytes(static_cast<const std::byte*>(data), static_cast<size_t>(count));
    const auto over = static_cast<size_t>(std::min(count, size_ - position_));
    Status status;
    if (over > 0 && sink_.keeps()) {
      status = sink_.overwrite(static_cast<uint64_t>(position_), bytes.first(over));
    }
    if (status && over < bytes.size()) {
      status = sink_.write(bytes.subspan(over));
    }
    if (!status) {
      error_ = std::move(status).error();
      return 0;
    }
    position_ += count;
    size_ = std::max(size_, position_);
    return count;
  }

  ByteSink& sink_;
  sf_count_t position_ = 0;
  sf_count_t size_ = 0;
  std::optional<Error> error_;
};

struct Kind {
  int format = 0;
  bool whole = false;  // takes 16-bit samples, so that they are rounded as everywhere else
};

Kind kind_of(SoundFormat format) {
  switch (format) {
    case SoundFormat::Flac:
      return {.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16, .whole = true};
    case SoundFormat::Mp3:
      return {.format = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III};
    case SoundFormat::Opus:
      return {.format = SF_FORMAT_OGG | SF_FORMAT_OPUS};
    default:
      break;
  }
  MYNAH_CHECK(false, "not a format of libsndfile");
  return {};
}

class SndfileWriter final : public SoundWriter {
 public:
  SndfileWriter(ByteSink& sink, Kind kind) : file_(sink), kind_(kind) {}

  Status open(SoundFormat format, int rate_hz) {
    SF_INFO info{};
    info.samplerate = rate_hz;
    info.channels = 1;
    info.format = kind_.format;
    SF_VIRTUAL_IO calls = VirtualFile::calls();
    handle_.reset(sf_open_virtual(&calls, SFM_WRITE, &info, &file_));
    MYNAH_TRY_STATUS(file_.take_error());
    if (!handle_) {
      return fail(ErrorCode::Environment,
                  fmt::format("this machine's libsndfile does not write {} at {} Hz ({}); wanted "
                              "another --format, such as wav",
                              name(format), rate_hz, sf_strerror(nullptr)));
    }
    sf_command(handle_.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
    if (format == SoundFormat::Opus) {
      double latency_ms = kOggPageMs;
      sf_command(handle_.get(), SFC_SET_OGG_PAGE_LATENCY_MS, &latency_ms, sizeof latency_ms);
    }
    return {};
  }

  Status write(std::span<const float> samples) override {
    const auto count = static_cast<sf_count_t>(samples.size());
    sf_count_t written = 0;
    if (kind_.whole) {
      block_.resize(samples.size());
      std::ranges::transform(samples, block_.begin(), to_s16);
      written = sf_write_short(handle_.get(), block_.data(), count);
    } else {
      clean_.assign(samples.begin(), samples.end());
      std::ranges::replace_if(clean_, [](float x) { return std::isnan(x); }, 0.0F);
      written = sf_write_float(handle_.get(), clean_.data(), count);
    }
    MYNAH_TRY_STATUS(file_.take_error());
    if (written != count) {
      return fail(ErrorCode::Io, fmt::format("libsndfile took {} of {} samples: {}", written, count,
                                             sf_strerror(handle_.get())));
    }
    return {};
  }

  Status finish() override {
    sf_close(handle_.release());
    return file_.take_error();
  }

 private:
  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  // A listener waits for a page before it hears anything of it.
  static constexpr double kOggPageMs = 100;

  VirtualFile file_;
  Kind kind_;
  std::unique_ptr<SNDFILE, Close> handle_;
  std::vector<int16_t> block_;
  std::vector<float> clean_;
};

}  // namespace

std::span<const int> sndfile_rates(SoundFormat format) {
  switch (format) {
    case SoundFormat::Mp3:
      return kMpegRates;
    case SoundFormat::Opus:
      return kOpusRates;
    default:
      return {};
  }
}

Result<std::unique_ptr<SoundWriter>> make_sndfile_writer(ByteSink& sink, SoundFormat format,
                                                         int rate_hz) {
  auto writer = std::make_unique<SndfileWriter>(sink, kind_of(format));
  MYNAH_TRY_STATUS(writer->open(format, rate_hz));
  return writer;
}

}  // namespace mynah
