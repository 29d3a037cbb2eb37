#include "cli/files/spoken_track.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace mynah::cli {

namespace {

// Speech that is enough to be sure, and how much of a track is listened to for it: decoding that
// takes a second or two.
constexpr double kEnough_s = 1;
constexpr double kListened_s = 600;
constexpr int kMostTracks = 8;
constexpr float kSpeech = 0.5F;  // probability of a frame

bool is_file(const std::string& path) {
  struct stat status{};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Seconds of speech, up to enough. What cannot be read has none.
double speech_s(AudioSource& source, const VoiceDetector& detector) {
  const auto session = detector.session();
  std::vector<float> block(static_cast<size_t>(source.rate_hz()));
  double found_s = 0;
  while (found_s < kEnough_s) {
    const auto got = source.read(block);
    if (!got || *got == 0) {
      break;
    }
    const auto probabilities = session->push(std::span(block).first(*got));
    if (!probabilities) {
      break;
    }
    const auto frames = std::ranges::count_if(*probabilities, [](float p) { return p >= kSpeech; });
    found_s += static_cast<double>(frames) * detector.frame_s();
  }
  return found_s;
}

// The first track with enough speech, or else the one with most.
int find_speech(const std::string& path, AudioOpenOptions options, const AudioTracks& tracks,
                const VoiceDetector& detector) {
  options.channel.reset();
  options.note = {};
  options.duration_s = std::min(options.duration_s.value_or(kListened_s), kListened_s);
  options.rate_hz = detector.rate_hz();
  std::vector<int> order = {tracks.heard};
  for (int track = 1; track <= std::min(tracks.count, kMostTracks); ++track) {
    if (track != tracks.heard) {
      order.push_back(track);
    }
  }
  int best = tracks.heard;
  double most_s = 0;
  for (const int track : order) {
    options.track = std::to_string(track);
    const auto source = open_audio(path, options);
    const double found_s = source ? speech_s(**source, detector) : 0;
    if (found_s > most_s) {
      best = track;
      most_s = found_s;
    }
    if (most_s >= kEnough_s || options.stop.stop_requested()) {
      break;
    }
  }
  return best;
}

// Notes of a source that may yet be left for another one.
struct HeldNotes {
  bool holding = true;
  std::vector<std::string> texts;
};

}  // namespace

Result<std::unique_ptr<AudioSource>> open_spoken_track(const std::string& path,
                                                       const AudioOpenOptions& options,
                                                       const VoiceDetector* detector) {
  const auto held = std::make_shared<HeldNotes>();
  AudioOpenOptions any = options;
  any.note = [held, note = options.note](const std::string& text) {
    if (held->holding) {
      held->texts.push_back(text);
    } else if (note) {
      note(text);
    }
  };
  auto source = open_audio(path, any);
  if (source && options.track.empty() && (*source)->tracks().count > 1 && is_file(path)) {
    const AudioTracks tracks = (*source)->tracks();
    const auto builtin = detector == nullptr ? builtin_voice_detector() : nullptr;
    const int track =
        find_speech(path, options, tracks, detector == nullptr ? *builtin : *detector);
    if (track != tracks.heard) {
      held->texts = {
          fmt::format("no speech was heard on audio track {}: track {} of {} is taken, "
                      "--track takes another",
                      tracks.heard, track, tracks.count)};
      any.track = std::to_string(track);
      source = open_audio(path, any);
    }
  }
  held->holding = false;
  for (const std::string& text : held->texts) {
    if (options.note) {
      options.note(text);
    }
  }
  return source;
}

}  // namespace mynah::cli
