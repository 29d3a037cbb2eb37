// mynah-media: decodes a recording that it is handed as descriptor 0 and writes its samples to
// descriptor 1 (audio/media_protocol.h). It alone links FFmpeg, and it confines itself before it
// looks at the first byte. Started by mynah; not for use by hand.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

extern "C" {
#include <libavutil/log.h>
}

#include "media/aac_encoder.h"
#include "media/byte_input.h"
#include "media/confine.h"
#include "media/decoder.h"
#include "media/m4b_writer.h"
#include "media/message_writer.h"
#include "media/self_test.h"

namespace {

struct Arguments {
  int cpu_s = 30;
  int64_t offset = 0;
  int64_t bytes = 0;
  std::string self_test;
  int encode_aac_hz = 0;  // these two 0: decodes
  int encode_m4b_hz = 0;
  mynah::media::DecoderOptions decoder;
};

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string_view name = words[i];
    const char* value = words[i + 1];
    if (name == "--cpu") {
      arguments.cpu_s = std::atoi(value);
    } else if (name == "--start") {
      arguments.decoder.start_s = std::atof(value);
    } else if (name == "--extension") {
      arguments.decoder.extension = value;
    } else if (name == "--offset") {
      arguments.offset = std::atoll(value);
    } else if (name == "--bytes") {
      arguments.bytes = std::atoll(value);
    } else if (name == "--track") {
      arguments.decoder.track = value;
    } else if (name == "--encode-aac") {
      arguments.encode_aac_hz = std::atoi(value);
    } else if (name == "--encode-m4b") {
      arguments.encode_m4b_hz = std::atoi(value);
    } else if (name == "--self-test") {
      arguments.self_test = value;
    }
  }
  return arguments;
}

int encode_aac(const Arguments& arguments) {
  const int rate_hz = arguments.encode_aac_hz;
  mynah::media::AacEncoder encoder;
  if (!encoder.open(rate_hz, false) || !mynah::media::confine(arguments.cpu_s).empty()) {
    return 1;
  }
  const auto take = [rate_hz](AVPacket& packet) {
    return mynah::media::write_adts(packet, rate_hz);
  };
  return encoder.run(take) ? 0 : 1;
}

int encode_m4b(const Arguments& arguments) {
  mynah::media::AacEncoder encoder;
  mynah::media::M4bWriter writer;
  if (!encoder.open(arguments.encode_m4b_hz, true) || !writer.open(encoder.context()) ||
      !mynah::media::confine(arguments.cpu_s).empty() || !writer.begin()) {
    return 1;
  }
  const auto take = [&writer](AVPacket& packet) { return writer.write(packet); };
  return encoder.run(take) && writer.finish() ? 0 : 1;
}

// Hears the track that was asked for, or the best one; where that gives nothing at all (encrypted,
// damaged from its first packet on), the first of the others that does.
std::string decode(mynah::media::ByteInput& input, mynah::media::MessageWriter& writer,
                   mynah::media::DecoderOptions options) {
  mynah::media::Decoder first(input, writer, options);
  std::string error = first.run();
  if (error.empty() || first.heard() || !options.track.empty()) {
    return error;
  }
  constexpr int kMostTracks = 32;
  for (int track = 1; track <= std::min(first.choice().tracks, kMostTracks); ++track) {
    if (track == first.choice().track || !input.rewind()) {
      continue;
    }
    options.track = std::to_string(track);
    mynah::media::Decoder other(input, writer, options);
    if (std::string its = other.run(); its.empty() || other.heard()) {
      return its;
    }
  }
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = parse({argv, static_cast<size_t>(argc)});
  av_log_set_callback(mynah::media::Decoder::take_log);
  if (arguments.encode_aac_hz != 0) {
    ::_exit(encode_aac(arguments));
  }
  if (arguments.encode_m4b_hz != 0) {
    ::_exit(encode_m4b(arguments));
  }
  mynah::media::MessageWriter writer;
  mynah::media::ByteInput input(arguments.offset, arguments.bytes);
  if (const std::string error = mynah::media::confine(arguments.cpu_s); !error.empty()) {
    writer.error(error);
    return 1;
  }
  if (!arguments.self_test.empty()) {
    ::_exit(mynah::media::try_forbidden(arguments.self_test));
  }
  std::string error = input.open([&writer] { writer.flush(); });
  if (error.empty()) {
    error = decode(input, writer, arguments.decoder);
    arguments.decoder.start_s = 0;  // of the first alone
    while (input.next_link()) {
      const std::string its = decode(input, writer, arguments.decoder);
      error = error.empty() ? its : error;
    }
    if (error.empty() && input.has_rest()) {
      writer.note("is followed by more, which is not heard through a pipe: give it as a file");
    }
  }
  if (!error.empty()) {
    writer.error(error);
    ::_exit(1);
  }
  writer.end();
  // Nothing is left to do that the end of the process does not: destructors of a hundred libraries
  // would only ask for calls that are taken away.
  ::_exit(0);
}
