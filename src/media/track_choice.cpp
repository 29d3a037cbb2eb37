#include "media/track_choice.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::media {
namespace {

// Tracks that a message names; films have a dozen languages.
constexpr size_t kMostNamed = 12;
constexpr size_t kMostTitleBytes = 40;

std::vector<int> audio_streams(const AVFormatContext& format) {
  std::vector<int> found;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    if (format.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

bool can_decode(const AVFormatContext& format, int stream) {
  return avcodec_find_decoder(format.streams[stream]->codecpar->codec_id) != nullptr;
}

std::string tag(const AVFormatContext& format, int stream, const char* name) {
  const AVDictionaryEntry* entry = av_dict_get(format.streams[stream]->metadata, name, nullptr, 0);
  return entry == nullptr ? "" : entry->value;
}

// The language without its region, in small letters: "pt" of "pt-BR".
std::string language(const AVFormatContext& format, int stream) {
  std::string text = tag(format, stream, "language");
  text.resize(std::min(text.find_first_of("-_"), text.size()));
  for (char& letter : text) {
    letter = ascii_lower(letter);
  }
  return text == "und" ? "" : text;
}

bool has_code(std::string_view codes, std::string_view code) {
  return !code.empty() &&
         std::ranges::any_of(codes | std::views::split(','), [code](const auto& one) {
           return std::string_view(one.begin(), one.end()) == code;
         });
}

std::string name_tracks(const AVFormatContext& format) {
  std::string names;
  const std::vector<int> streams = audio_streams(format);
  for (size_t i = 0; i < std::min(streams.size(), kMostNamed); ++i) {
    const int stream = streams[i];
    const std::string spoken = language(format, stream);
    const std::string title = tag(format, stream, "title");
    const char* const codec = avcodec_get_name(format.streams[stream]->codecpar->codec_id);
    names +=
        fmt::format("{}{}: {}{}{}", i == 0 ? "" : ", ", i + 1, spoken, spoken.empty() ? "" : " ",
                    can_decode(format, stream) ? codec : "of a codec that FFmpeg lacks");
    if (!title.empty()) {
      names += fmt::format(" '{}'", title.substr(0, kMostTitleBytes));
    }
  }
  return names + (streams.size() > kMostNamed ? ", ..." : "");
}

// The stream that was asked for; -1: there is none.
int find_wanted(const AVFormatContext& format, const std::vector<int>& streams,
                const std::string& wanted) {
  size_t number = 0;
  const auto end = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (end.ec == std::errc() && end.ptr == wanted.data() + wanted.size()) {
    return number >= 1 && number <= streams.size() ? streams[number - 1] : -1;
  }
  const auto spoken = [&](int stream) {
    return has_code(wanted, language(format, stream)) && can_decode(format, stream);
  };
  const auto found = std::ranges::find_if(streams, spoken);
  return found == streams.end() ? -1 : *found;
}

}  // namespace

TrackChoice choose_track(AVFormatContext& format, const std::string& wanted) {
  const std::vector<int> streams = audio_streams(format);
  TrackChoice choice;
  choice.tracks = static_cast<int>(streams.size());
  if (streams.empty()) {
    return choice;
  }
  if (!wanted.empty()) {
    choice.stream = find_wanted(format, streams, wanted);
    if (choice.stream < 0) {
      choice.error = fmt::format("has no audio track {}: wanted one of {}",
                                 wanted.substr(0, kMostTitleBytes), name_tracks(format));
    }
  } else {
    const AVCodec* decoder = nullptr;
    choice.stream = av_find_best_stream(&format, AVMEDIA_TYPE_AUDIO, -1, -1, &decoder, 0);
    if (choice.stream < 0) {
      choice.stream = streams.front();
    }
  }
  const auto at = std::ranges::find(streams, choice.stream);
  choice.track = static_cast<int>(at - streams.begin()) + 1;
  return choice;
}

std::string describe_tracks(const AVFormatContext& format, const TrackChoice& choice) {
  return fmt::format("holds {} audio tracks ({}): track {} is heard, --track takes another",
                     choice.tracks, name_tracks(format), choice.track);
}

}  // namespace mynah::media
