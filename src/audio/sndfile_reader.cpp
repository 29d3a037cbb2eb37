#include "audio/sndfile_reader.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sndfile.h>
#include <unistd.h>

#include "audio/iff_length.h"

namespace mynah {
namespace {

struct CloseSndfile {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

using SndfileHandle = std::unique_ptr<SNDFILE, CloseSndfile>;

std::optional<Speaker> speaker_of(int channel) {
  switch (channel) {
    case SF_CHANNEL_MAP_LEFT:
    case SF_CHANNEL_MAP_FRONT_LEFT:
      return kFrontLeft;
    case SF_CHANNEL_MAP_RIGHT:
    case SF_CHANNEL_MAP_FRONT_RIGHT:
      return kFrontRight;
    case SF_CHANNEL_MAP_MONO:
    case SF_CHANNEL_MAP_CENTER:
    case SF_CHANNEL_MAP_FRONT_CENTER:
    case SF_CHANNEL_MAP_AMBISONIC_B_W:
      return kFrontCentre;
    case SF_CHANNEL_MAP_FRONT_LEFT_OF_CENTER:
      return kFrontLeftOfCentre;
    case SF_CHANNEL_MAP_FRONT_RIGHT_OF_CENTER:
      return kFrontRightOfCentre;
    case SF_CHANNEL_MAP_LFE:
      return kLowFrequency;
    case SF_CHANNEL_MAP_AMBISONIC_B_X:
    case SF_CHANNEL_MAP_AMBISONIC_B_Y:
    case SF_CHANNEL_MAP_AMBISONIC_B_Z:
      return kDirectional;
    case SF_CHANNEL_MAP_INVALID:
      return std::nullopt;
    default:
      return kBackCentre;  // somewhere around the listener
  }
}

// The order that FLAC fixes by the number of channels (RFC 9639, 9.1.3), as libsndfile does not
// tell it: front left and right; centre third where the number is odd or above 4; then low
// frequencies from 6 on; then surrounds.
std::vector<Speaker> flac_speakers(int channels) {
  std::vector<Speaker> speakers = {kFrontLeft, kFrontRight};
  if (channels == 3 || channels > 4) {
    speakers.push_back(kFrontCentre);
  }
  if (channels > 5) {
    speakers.push_back(kLowFrequency);
  }
  speakers.resize(static_cast<size_t>(channels), kBackCentre);
  return speakers;
}

// The speakers of more than two channels, where the file names them.
std::vector<Speaker> find_speakers(SNDFILE* file, const SF_INFO& info) {
  constexpr int kMostFlacChannels = 8;
  if (info.channels <= 2) {
    return {};
  }
  std::vector<int> map(static_cast<size_t>(info.channels));
  const auto bytes = static_cast<int>(map.size() * sizeof(int));
  if (sf_command(file, SFC_GET_CHANNEL_MAP_INFO, map.data(), bytes) == SF_TRUE) {
    std::vector<Speaker> speakers;
    for (const int channel : map) {
      const auto speaker = speaker_of(channel);
      if (!speaker) {
        return {};
      }
      speakers.push_back(*speaker);
    }
    return speakers;
  }
  const bool is_flac = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC;
  return is_flac && info.channels <= kMostFlacChannels ? flac_speakers(info.channels)
                                                       : std::vector<Speaker>();
}

class SndfileReader final : public FrameReader {
 public:
  SndfileReader(SndfileHandle file, const SF_INFO& info, std::string name,
                std::optional<SampleBytes> bytes)
      : file_(std::move(file)),
        info_(info),
        name_(std::move(name)),
        bytes_(bytes),
        speakers_(find_speakers(file_.get(), info)) {}

  [[nodiscard]] int rate_hz() const override { return info_.samplerate; }

  [[nodiscard]] int channels() const override { return info_.channels; }

  [[nodiscard]] std::span<const Speaker> speakers() const override { return speakers_; }

  [[nodiscard]] std::optional<int64_t> frames() const override {
    if (info_.frames <= 0 || info_.frames == SF_COUNT_MAX) {
      return std::nullopt;
    }
    return info_.frames;
  }

  Result<size_t> read(std::span<float> out) override {
    const auto wanted = static_cast<sf_count_t>(out.size()) / info_.channels;
    const sf_count_t got = sf_readf_float(file_.get(), out.data(), wanted);
    if (got > 0) {
      position_ += got;
      return static_cast<size_t>(got);
    }
    MYNAH_TRY_STATUS(check_end());
    return 0;
  }

  Result<int64_t> skip(int64_t count) override {
    if (frames() && count >= *frames() - position_) {
      count = *frames() - position_;
    }
    if (info_.seekable != 0 && sf_seek(file_.get(), position_ + count, SEEK_SET) >= 0) {
      position_ += count;
      return count;
    }
    return skip_by_reading(*this, count);
  }

 private:
  // Says at the end of the frames whether there should have been more.
  Status check_end() {
    if (sf_error(file_.get()) != SF_ERR_NO_ERROR) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} is damaged after {:.3f} s: {}", name_, seconds(position_),
                              sf_strerror(file_.get())));
    }
    if (bytes_ && bytes_->present < bytes_->promised) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} is cut off after {:.3f} s: its header promises {} bytes of "
                              "samples, {} are there",
                              name_, seconds(position_), bytes_->promised, bytes_->present));
    }
    if (has_exact_length() && frames() && position_ < *frames()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} is cut off after {:.3f} s: its header promises {:.3f} s", name_,
                              seconds(position_), seconds(*frames())));
    }
    return {};
  }

  // Whether the number of frames is a promise: for lossy formats it is libsndfile's estimate.
  [[nodiscard]] bool has_exact_length() const {
    switch (info_.format & SF_FORMAT_SUBMASK) {
      case SF_FORMAT_PCM_S8:
      case SF_FORMAT_PCM_U8:
      case SF_FORMAT_PCM_16:
      case SF_FORMAT_PCM_24:
      case SF_FORMAT_PCM_32:
      case SF_FORMAT_FLOAT:
      case SF_FORMAT_DOUBLE:
      case SF_FORMAT_ULAW:
      case SF_FORMAT_ALAW:
        return true;  // FLAC is one of these too
      default:
        return false;
    }
  }

  [[nodiscard]] double seconds(int64_t frame) const {
    return static_cast<double>(frame) / info_.samplerate;
  }

  SndfileHandle file_;
  SF_INFO info_;
  std::string name_;
  std::optional<SampleBytes> bytes_;
  std::vector<Speaker> speakers_;
  int64_t position_ = 0;
};

// MPEG audio, with its sync word or an ID3v2 tag in front, or Ogg. The libraries below libsndfile
// read what is left of a damaged one as if it were whole, and libmpg123 prints of its troubles.
bool begins_lossy_stream(int fd) {
  std::array<char, 4> bytes{};
  if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return false;
  }
  const std::string_view head(bytes.data(), bytes.size());
  constexpr unsigned kSync = 0xE0;  // the upper three of a frame header's second byte
  const bool syncs = bytes[0] == '\xFF' && (static_cast<unsigned char>(bytes[1]) & kSync) == kSync;
  return syncs || head.starts_with("ID3") || head == "OggS";
}

}  // namespace

Result<std::unique_ptr<FrameReader>> open_with_sndfile(const InputFile& input) {
  if (begins_lossy_stream(input.fd.get())) {
    return fail(ErrorCode::Unsupported, input.name + " is MPEG audio or Ogg: wanted mynah-media");
  }
  const int fd = ::fcntl(input.fd.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0 || ::lseek(fd, 0, SEEK_SET) != 0) {
    return fail(ErrorCode::Io, "cannot read " + input.name + " from its start");
  }
  SF_INFO info{};
  SndfileHandle file(sf_open_fd(fd, SFM_READ, &info, SF_TRUE));
  if (!file) {
    return fail(ErrorCode::Unsupported, input.name + ": " + sf_strerror(nullptr));
  }
  return std::make_unique<SndfileReader>(std::move(file), info, input.name,
                                         find_sample_bytes(input.fd.get(), input.size_bytes));
}

}  // namespace mynah
