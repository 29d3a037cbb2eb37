// Which audio track of a file is heard.
#pragma once

#include <string>

#include "media/av_handles.h"

namespace mynah::media {

struct TrackChoice {
  int stream = -1;    // index of the stream
  int track = 0;      // its number among the audio tracks, from 1
  int tracks = 0;     // audio tracks of the file
  std::string error;  // why there is none, to be read after the recording's name
};

// The track that `wanted` says: a number from 1, or codes of a language with commas between. Empty:
// the best one (marked as default, with most channels) that this FFmpeg can decode.
TrackChoice choose_track(AVFormatContext& format, const std::string& wanted);

// What a user should know of a file with more than one audio track: "holds 2 audio tracks (1: eng
// aac, 2: deu ac3): track 1 is heard, --track takes another".
std::string describe_tracks(const AVFormatContext& format, const TrackChoice& choice);

}  // namespace mynah::media
