// Decoder: reads one recording with FFmpeg and sends its first best audio track.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "media/av_handles.h"
#include "media/byte_input.h"
#include "media/message_writer.h"
#include "media/sample_converter.h"

namespace mynah::media {

struct DecoderOptions {
  double start_s = 0;     // begin at or before this time: seek where that saves much
  std::string extension;  // of the file's name: some headerless formats are told by it
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

 private:
  std::string open_container();
  std::string find_audio();
  std::string open_codec();
  std::string decode_all();
  bool decode_packet(const AVPacket* packet);
  bool receive_frames();
  bool take_frame();
  bool begin();
  bool seek_to_start();
  void fill_gap();
  std::string judge_end() const;

  [[nodiscard]] std::optional<int64_t> length_frames() const;
  [[nodiscard]] std::optional<int64_t> frame_position() const;

  ByteInput& input_;
  MessageWriter& writer_;
  DecoderOptions options_;
  AvHandle<AVFormatContext> format_;
  AvHandle<AVCodecContext> codec_;
  AvHandle<AVFrame> frame_;
  AVStream* stream_ = nullptr;
  SampleConverter converter_;
  bool began_ = false;
  bool format_sent_ = false;
  bool seeking_ = false;
  int64_t origin_pts_ = AV_NOPTS_VALUE;  // of the first frame of all
  int64_t position_ = 0;                 // frames of the recording before what comes next
  int64_t damaged_packets_ = 0;
  bool lost_packets_ = false;       // since the last frame
  int64_t stamped_ = 0;             // where the last frame ended by its time stamp
  bool length_is_guessed_ = false;  // from the bit rate: not worth telling
  bool length_is_promised_ = true;  // by the header: less than that is an error
  int read_error_ = 0;
};

}  // namespace mynah::media
