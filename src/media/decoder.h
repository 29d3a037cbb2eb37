// Decoder: reads one recording with FFmpeg and sends its first best audio track.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "media/av_handles.h"
#include "media/avi_silences.h"
#include "media/byte_input.h"
#include "media/message_writer.h"
#include "media/ogg_pages.h"
#include "media/sample_converter.h"
#include "media/track_choice.h"
#include "media/vorbis_end.h"

namespace mynah::media {

struct DecoderOptions {
  double start_s = 0;     // begin at or before this time: seek where that saves much
  std::string extension;  // of the file's name: some headerless formats are told by it
  std::string track;      // number or languages, as MediaOptions::track says; empty: the best
};

// One recording, from the first byte to the last sample. Silence stands for damaged packets, so
// that what follows keeps its time, and the end is then an error.
class Decoder {
 public:
  Decoder(ByteInput& input, MessageWriter& writer, DecoderOptions options)
      : input_(input), writer_(writer), options_(std::move(options)) {}

  // Returns what is wrong with the recording, to be read after its name ("is cut off ..."), or
  // nothing.
  std::string run();

  // Whether any sound came, and the audio tracks that the file has.
  [[nodiscard]] bool heard() const { return format_sent_; }

  [[nodiscard]] const TrackChoice& choice() const { return choice_; }

  // For av_log_set_callback: keeps what a demuxer says of damage that it passes over.
  static void take_log(void* speaker, int level, const char* format, va_list arguments);

 private:
  std::string open_container();
  std::string find_audio();
  std::string open_codec();
  std::string decode_all();
  bool decode_packet(const AVPacket* packet);
  bool receive_frames();
  bool take_frame();
  bool begin();
  void send_format();
  bool seek_to_start();
  void note_start(const AVPacket& packet);
  void hear_one_track();
  void fill_gap();
  void fill(int64_t missing);
  void count_packet();
  bool is_between_frames(const AVPacket& packet);
  void mend_end(AVPacket& packet);
  void note_damaged_packet();
  std::string judge_end();
  std::string judge_pages();
  [[nodiscard]] std::string judge_packets() const;
  [[nodiscard]] bool is_format(std::string_view name) const;
  [[nodiscard]] double seconds(int64_t frame) const;

  [[nodiscard]] std::optional<int64_t> length_frames() const;
  [[nodiscard]] std::optional<int64_t> frame_position() const;

  ByteInput& input_;
  MessageWriter& writer_;
  DecoderOptions options_;
  AvHandle<AVFormatContext> format_;
  AvHandle<AVCodecContext> codec_;
  AvHandle<AVFrame> frame_;
  AVStream* stream_ = nullptr;
  TrackChoice choice_;
  SampleConverter converter_;
  bool began_ = false;
  bool format_sent_ = false;
  bool seeking_ = false;
  std::optional<int64_t> others_start_us_;  // where the first of the other tracks begins
  int64_t origin_pts_ = AV_NOPTS_VALUE;     // where the recording begins, in the track's clock
  int64_t position_ = 0;                    // frames of the recording before what comes next
  int64_t anew_ = 0;                 // frames before the place where time stamps began anew last
  int64_t late_ = 0;                 // frames of the recording before the track's first
  int64_t silence_ = 0;              // frames that were told as silence
  std::deque<AviSilence> silences_;  // of AVI, that are still to come
  int64_t due_ = 0;                  // of AVI: frames of silence before what comes next
  int64_t packets_ = 0;              // of the track so far
  bool leapt_ = false;               // a gap was left out
  std::optional<int64_t> damaged_after_;  // frames before the first damage
  size_t junk_bytes_ = 0;                 // of MPEG audio: no tag, after the last frame
  bool last_frame_cut_ = false;           // of MPEG audio: shorter than its header says
  OggPages pages_;                        // of Ogg
  VorbisEnd vorbis_end_;                  // of Ogg
  bool lost_packets_ = false;             // since the last frame
  bool length_is_guessed_ = false;        // from the bit rate: not worth telling
  bool length_is_promised_ = true;        // by the header: less than that is an error
  int read_error_ = 0;
};

}  // namespace mynah::media
