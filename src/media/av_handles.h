// Owners of FFmpeg's objects.
#pragma once

#include <memory>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
}

namespace mynah::media {

struct AvDeleter {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }

  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }

  void operator()(AVPacket* packet) const { av_packet_free(&packet); }

  void operator()(AVFrame* frame) const { av_frame_free(&frame); }

  void operator()(SwrContext* context) const { swr_free(&context); }
};

template <class T>
using AvHandle = std::unique_ptr<T, AvDeleter>;

}  // namespace mynah::media
