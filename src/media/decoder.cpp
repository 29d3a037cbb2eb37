#include "media/decoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "media/mpeg_frame.h"
#include "media/open_error.h"

namespace mynah::media {
namespace {

// Below this, decoding from the front is as quick as seeking.
constexpr double kLeastSeek_s = 10;
// Where decoding starts before the wanted time: covers the pre-roll of Opus (80 ms), the bit
// reservoir of MP3 and the quarter second the resampler wants.
constexpr double kPreroll_s = 1;
// A shorter gap between time stamps is their rounding. Of a longer one the recorder left silence
// out (or packets were lost), and what follows keeps its time.
constexpr double kLeastGap_s = 0.1;
// FFmpeg's AV_TIME_BASE_Q, whose macro is no C++.
constexpr AVRational kMicroseconds{1, AV_TIME_BASE};
// What is later than the recording's beginning by less is not late.
constexpr double kLeastLate_s = 0.01;
// Time stamps that go back by more begin anew: another recording was joined on.
constexpr double kLeastReturn_s = 1;
// Encoders of MP3 add silence before and behind, which is counted as frames and left out of the
// sound: up to four frames.
constexpr int64_t kMp3Silence = int64_t{4} * 1152;
// Encoders round a track's length to their frames, and muxers are careless with it.
constexpr double kLengthTolerance_s = 1;

std::string explain(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

// A playlist that names other files, or an address: this program has no way to them.
int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

}  // namespace

std::string Decoder::run() {
  input_.watch([this](std::span<const uint8_t> bytes) { pages_.push(bytes); });
  std::string error = open_container();
  if (error.empty()) {
    error = find_audio();
  }
  if (error.empty()) {
    error = open_codec();
  }
  return error.empty() ? decode_all() : error;
}

std::string Decoder::open_container() {
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) {
    return "cannot be opened: no memory";
  }
  context->pb = input_.context();
  context->opaque = this;
  context->io_open = refuse_open;
  context->flags |= AVFMT_FLAG_CUSTOM_IO;
  const std::string name = options_.extension.empty() ? "" : "recording." + options_.extension;
  // On failure it frees the context.
  if (const int error = avformat_open_input(&context, name.c_str(), nullptr, nullptr); error < 0) {
    return explain_unopened(input_, error);
  }
  format_.reset(context);
  return {};
}

std::string Decoder::find_audio() {
  choice_ = choose_track(*format_, options_.track);
  // Headers of MP4, Matroska, Ogg, WAV and FLAC say all; the packets need to be looked into only
  // for the rest, which costs time and, on a pipe, delay.
  if (choice_.stream < 0 ||
      format_->streams[choice_.stream]->codecpar->codec_id == AV_CODEC_ID_NONE ||
      format_->streams[choice_.stream]->codecpar->sample_rate <= 0) {
    if (const int error = avformat_find_stream_info(format_.get(), nullptr); error < 0) {
      return "cannot be read: " + explain(error);
    }
    length_is_guessed_ = format_->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
    length_is_promised_ = format_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
    choice_ = choose_track(*format_, options_.track);
  }
  if (!choice_.error.empty()) {
    return choice_.error;
  }
  const int index = choice_.stream;
  if (index < 0) {
    std::string found;
    for (unsigned i = 0; i < std::min(format_->nb_streams, 8U); ++i) {
      const char* type = av_get_media_type_string(format_->streams[i]->codecpar->codec_type);
      found += fmt::format("{}{}", i == 0 ? "" : ", ", type != nullptr ? type : "data");
    }
    return found.empty() ? "is cut off before its first track, or holds none"
                         : fmt::format("holds no audio track (found: {})", found);
  }
  stream_ = format_->streams[index];
  if (is_format("avi") && input_.seekable()) {
    const auto read_at = [this](int64_t offset, std::span<std::byte> out) {
      return input_.read_at(offset, out);
    };
    const auto silences = find_avi_silences(read_at, index);
    silences_.assign(silences.begin(), silences.end());
  }
  return {};
}

// Where the other tracks begin is known once sound comes: from then on they are passed over.
void Decoder::hear_one_track() {
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    if (format_->streams[i] != stream_) {
      format_->streams[i]->discard = AVDISCARD_ALL;
    }
  }
}

// Keeps where the recording begins: a film's picture may come before its sound.
void Decoder::note_start(const AVPacket& packet) {
  const AVStream& stream = *format_->streams[packet.stream_index];
  const AVMediaType type = stream.codecpar->codec_type;
  const int64_t pts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if ((type != AVMEDIA_TYPE_AUDIO && type != AVMEDIA_TYPE_VIDEO) || pts == AV_NOPTS_VALUE ||
      (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0 ||
      (packet.flags & AV_PKT_FLAG_DISCARD) != 0) {  // of pictures that an edit list hides
    return;
  }
  const int64_t start_us = av_rescale_q(pts, stream.time_base, kMicroseconds);
  others_start_us_ = std::min(others_start_us_.value_or(start_us), start_us);
}

std::string Decoder::open_codec() {
  const AVCodec* decoder = avcodec_find_decoder(stream_->codecpar->codec_id);
  if (decoder == nullptr) {
    return fmt::format("holds audio as {}, which this FFmpeg cannot decode",
                       avcodec_get_name(stream_->codecpar->codec_id));
  }
  codec_.reset(avcodec_alloc_context3(decoder));
  frame_.reset(av_frame_alloc());
  if (!codec_ || !frame_ || avcodec_parameters_to_context(codec_.get(), stream_->codecpar) < 0) {
    return "cannot be decoded: no memory";
  }
  codec_->thread_count = 1;  // confine() leaves no way to start a thread
  codec_->pkt_timebase = stream_->time_base;
  if (const int error = avcodec_open2(codec_.get(), decoder, nullptr); error < 0) {
    return fmt::format("holds {} audio that cannot be decoded: {}", decoder->name, explain(error));
  }
  return {};
}

std::string Decoder::decode_all() {
  const AvHandle<AVPacket> packet(av_packet_alloc());
  if (!packet) {
    return "cannot be decoded: no memory";
  }
  bool going = true;
  while (going) {
    read_error_ = av_read_frame(format_.get(), packet.get());
    if (read_error_ < 0) {
      break;
    }
    if (packet->stream_index == stream_->index) {
      mend_end(*packet);
      count_packet();
      going = is_between_frames(*packet) || decode_packet(packet.get());
    } else if (!began_) {
      note_start(*packet);
    }
    av_packet_unref(packet.get());
  }
  if (going) {
    decode_packet(nullptr);
  }
  return judge_end();
}

// Decodes one packet (none: what the codec still holds). False: there is no use in going on.
bool Decoder::decode_packet(const AVPacket* packet) {
  const int error = avcodec_send_packet(codec_.get(), packet);
  if (error == AVERROR(ENOMEM)) {
    read_error_ = error;
    return false;
  }
  if (error < 0 && error != AVERROR_EOF) {
    note_damaged_packet();
  }
  return receive_frames();
}

bool Decoder::receive_frames() {
  for (;;) {
    const int error = avcodec_receive_frame(codec_.get(), frame_.get());
    if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) {
      return true;
    }
    if (error == AVERROR(ENOMEM)) {
      read_error_ = error;
      return false;
    }
    if (error < 0) {
      note_damaged_packet();
      return true;
    }
    const bool going = take_frame();
    av_frame_unref(frame_.get());
    if (!going) {
      return false;
    }
    if (seeking_ && !format_sent_) {
      avcodec_flush_buffers(codec_.get());  // after the seek: the next packet is of another time
      return true;
    }
  }
}

// Streams recorded from the air begin in the middle of a packet; that is no damage.
void Decoder::note_damaged_packet() {
  if (began_) {
    damaged_after_ = damaged_after_.value_or(position_);
    lost_packets_ = true;
    due_ += codec_->frame_size;
  }
}

// Matroska's demuxer goes on at the next cluster and says so in its log alone.
void Decoder::take_log(void* speaker, int level, const char*, va_list) {
  if (speaker == nullptr || level > AV_LOG_ERROR ||
      *static_cast<const AVClass**>(speaker) != avformat_get_class()) {
    return;
  }
  auto* decoder = static_cast<Decoder*>(static_cast<AVFormatContext*>(speaker)->opaque);
  if (decoder != nullptr && decoder->began_ && decoder->is_format("matroska,webm")) {
    decoder->damaged_after_ = decoder->damaged_after_.value_or(decoder->position_);
  }
}

// An AVI's silences are due before the packets that follow them.
void Decoder::count_packet() {
  if (!silences_.empty() && silences_.front().before_packet == packets_) {
    due_ += silences_.front().packets * codec_->frame_size;
    silences_.erase(silences_.begin());
  }
  ++packets_;
}

// FFmpeg hands on what lies between frames of MPEG audio as if it were one. Tags and zeros, where
// recordings were joined or filled up, are no damage, nor is anything after the last frame.
bool Decoder::is_between_frames(const AVPacket& packet) {
  if (!is_format("mp3")) {
    return false;
  }
  const std::span bytes(packet.data, static_cast<size_t>(packet.size));
  const auto frame_bytes = mpeg_frame_bytes(bytes);
  if (!frame_bytes) {
    junk_bytes_ += is_tag(bytes) ? 0 : bytes.size();
    return true;
  }
  if (const size_t junk_bytes = std::exchange(junk_bytes_, 0); junk_bytes > 0 && began_) {
    note_damaged_packet();
    // As many frames as there would be of this one's length; later ones then keep their time.
    const size_t frames = *frame_bytes == 0 ? 0 : (junk_bytes + *frame_bytes / 2) / *frame_bytes;
    fill(static_cast<int64_t>(frames) * codec_->frame_size);
  }
  last_frame_cut_ = *frame_bytes > bytes.size();
  return false;
}

// What was joined on begins anew: its first packet has nothing to do with the last one before.
void Decoder::mend_end(AVPacket& packet) {
  if (!is_format("ogg") || codec_->codec_id != AV_CODEC_ID_VORBIS) {
    return;
  }
  if (VorbisEnd::is_header(packet)) {
    avcodec_flush_buffers(codec_.get());
  }
  vorbis_end_.mend(packet);
}

bool Decoder::is_format(std::string_view name) const {
  return format_ && format_->iformat->name == name;
}

double Decoder::seconds(int64_t frame) const {
  return static_cast<double>(frame) / converter_.rate_hz();
}

bool Decoder::take_frame() {
  if (!began_) {
    if (!begin()) {
      return false;
    }
    if (seeking_) {
      return true;
    }
  }
  if (!format_sent_) {
    send_format();
  }
  fill_gap();
  const auto samples = converter_.convert(*frame_);
  writer_.frames(samples);
  position_ += static_cast<int64_t>(samples.size()) / converter_.channels();
  return true;
}

void Decoder::send_format() {
  if (seeking_) {
    // Where there is nothing at the time that was sought, silence goes before what comes.
    const auto sought =
        static_cast<int64_t>((options_.start_s - kPreroll_s) * converter_.rate_hz());
    position_ = std::min(frame_position().value_or(0), sought);
  }
  if (options_.track.empty() && choice_.tracks > 1) {
    writer_.note(describe_tracks(*format_, choice_));
  }
  writer_.format({.rate_hz = static_cast<uint32_t>(converter_.rate_hz()),
                  .channels = static_cast<uint32_t>(converter_.channels()),
                  .frames = length_frames().value_or(-1),
                  .first_frame = position_,
                  .tracks = static_cast<uint32_t>(choice_.tracks),
                  .track = static_cast<uint32_t>(choice_.track)},
                 converter_.speakers());
  format_sent_ = true;
}

// Takes the first frame's rate, channels and time, and seeks where that was asked for.
bool Decoder::begin() {
  if (frame_->sample_rate <= 0 || frame_->ch_layout.nb_channels <= 0 ||
      frame_->ch_layout.nb_channels > static_cast<int>(kMostMediaChannels) ||
      !converter_.begin(*frame_)) {
    read_error_ = AVERROR_INVALIDDATA;
    return false;
  }
  began_ = true;
  hear_one_track();
  origin_pts_ = frame_->best_effort_timestamp;
  if (origin_pts_ != AV_NOPTS_VALUE && others_start_us_) {
    origin_pts_ =
        std::min(origin_pts_, av_rescale_q(*others_start_us_, kMicroseconds, stream_->time_base));
  }
  late_ = frame_position().value_or(0);
  seeking_ = options_.start_s >= kLeastSeek_s && input_.seekable() &&
             origin_pts_ != AV_NOPTS_VALUE && silences_.empty() && due_ == 0 && seek_to_start();
  return true;
}

bool Decoder::seek_to_start() {
  const double after_s = options_.start_s - kPreroll_s;
  const auto ticks = static_cast<int64_t>(after_s / av_q2d(stream_->time_base));
  return av_seek_frame(format_.get(), stream_->index, origin_pts_ + ticks, AVSEEK_FLAG_BACKWARD) >=
         0;
}

// Where the current frame begins, in frames from the recording's beginning, by its time stamp.
std::optional<int64_t> Decoder::frame_position() const {
  const int64_t pts = frame_->best_effort_timestamp;
  if (pts == AV_NOPTS_VALUE || origin_pts_ == AV_NOPTS_VALUE) {
    return std::nullopt;
  }
  const double seconds =
      (static_cast<double>(pts) - static_cast<double>(origin_pts_)) * av_q2d(stream_->time_base);
  const double frames = seconds * converter_.rate_hz();
  // Broken stamps may be of any size.
  constexpr double kMost = 1e15;
  return std::llround(std::clamp(frames, 0.0, kMost));
}

// Puts silence where the time stamps leave a gap.
void Decoder::fill_gap() {
  if (is_format("avi")) {  // whose time stamps are FFmpeg's guess
    fill(std::exchange(due_, 0) + (position_ == 0 ? late_ : 0));
    return;
  }
  const double rate_hz = converter_.rate_hz();
  const auto stamp = frame_position();
  if (!stamp) {
    return;
  }
  const auto missing = static_cast<double>(*stamp + anew_ - position_);
  if (missing < -kLeastReturn_s * rate_hz) {
    anew_ = position_ - *stamp;
    return;
  }
  const bool lost = std::exchange(lost_packets_, false);
  const double least = lost ? 0 : position_ == 0 ? kLeastLate_s : kLeastGap_s;
  if (missing > least * rate_hz) {
    fill(*stamp + anew_ - position_);
  }
}

void Decoder::fill(int64_t missing) {
  if (!format_sent_ || missing <= 0) {
    return;
  }
  if (missing > kMostMediaSilence_s * converter_.rate_hz() - silence_) {
    if (!std::exchange(leapt_, true)) {
      writer_.note(
          fmt::format("its time stamps leap by {:.0f} s after {:.3f} s: what follows is "
                      "told as if it came at once",
                      seconds(missing), seconds(position_)));
    }
    anew_ -= missing;
    return;
  }
  writer_.silence(missing);
  silence_ += missing;
  position_ += missing;
}

// The recording's length up to the end of its sound: that of the audio track where the file gives
// it (from its own beginning), or that of the file where it holds nothing else: a film's picture
// may go on after its sound.
std::optional<int64_t> Decoder::length_frames() const {
  if (length_is_guessed_ || leapt_) {
    return std::nullopt;
  }
  double frames = 0;
  const double rate_hz = converter_.rate_hz();
  // ASF has one length, which it gives to every track.
  if (stream_->duration > 0 && !(is_format("asf") && format_->nb_streams > 1)) {
    frames = static_cast<double>(stream_->duration) * av_q2d(stream_->time_base) * rate_hz;
    frames += is_format("avi") ? 0 : static_cast<double>(late_);
  } else if (format_->duration > 0 && format_->nb_streams == 1) {
    // Matroska counts from 0, wherever the sound begins.
    const bool from_zero = origin_pts_ != AV_NOPTS_VALUE && is_format("matroska,webm");
    const double before_s =
        from_zero ? static_cast<double>(origin_pts_) * av_q2d(stream_->time_base) : 0;
    frames =
        (static_cast<double>(format_->duration) / AV_TIME_BASE - std::max(0.0, before_s)) * rate_hz;
  }
  return frames > 0 && frames < 1e15 ? std::optional(std::llround(frames)) : std::nullopt;
}

std::string Decoder::judge_end() {
  if (read_error_ == AVERROR(ENOMEM)) {
    return "needs more memory than a decoder is given";
  }
  if (!began_) {
    return "holds an audio track with nothing in it that can be decoded";
  }
  if (std::string error = is_format("ogg") ? judge_pages() : ""; !error.empty()) {
    return error;
  }
  const auto promised = length_is_promised_ ? length_frames() : std::nullopt;
  // Some demuxers trip over a tag after the last packet.
  const bool complete = promised && position_ >= *promised;
  if (read_error_ < 0 && read_error_ != AVERROR_EOF && !complete) {
    return fmt::format("cannot be read further after {:.3f} s: {}", seconds(position_),
                       explain(read_error_));
  }
  const double tolerance_s = is_format("mp3") ? seconds(kMp3Silence) : kLengthTolerance_s;
  if (promised && seconds(*promised - position_) > tolerance_s) {
    return fmt::format("is cut off after {:.3f} s: its header promises {:.3f} s",
                       seconds(position_), seconds(*promised));
  }
  constexpr size_t kLeastTold = 4096;
  if (junk_bytes_ >= kLeastTold) {
    writer_.note(fmt::format("{} KB follow its sound that are no MPEG audio, and are not heard",
                             junk_bytes_ / 1024));
  }
  if (last_frame_cut_) {
    return fmt::format("is cut off after {:.3f} s: its last frame is not whole",
                       seconds(position_));
  }
  return is_format("ogg") ? "" : judge_packets();
}

std::string Decoder::judge_packets() const {
  return damaged_after_ ? fmt::format("is damaged after {:.3f} s: what cannot be decoded is silent",
                                      seconds(*damaged_after_))
                        : "";
}

// A page that fails its checksum is left out by FFmpeg. Where none did, all is there: what the
// codec passed over then was none of its packets.
std::string Decoder::judge_pages() {
  input_.read_all();
  if (pages_.is_damaged()) {
    const double after_s =
        static_cast<double>(pages_.granule_at_damage()) * av_q2d(stream_->time_base);
    return format_->nb_streams > 1
               ? "is damaged: some of its pages are missing or broken"
               : fmt::format("is damaged after {:.3f} s: pages are missing or broken", after_s);
  }
  if (pages_.is_cut_off()) {
    return fmt::format("is cut off after {:.3f} s: its last page does not end the recording",
                       seconds(position_));
  }
  return {};
}

}  // namespace mynah::media
