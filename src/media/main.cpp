// mynah-media: decodes a recording that it is handed as descriptor 0 and writes its samples to
// descriptor 1 (audio/media_protocol.h). It alone links FFmpeg, and it confines itself before it
// looks at the first byte. Started by mynah; not for use by hand.
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
#include "media/message_writer.h"
#include "media/self_test.h"

namespace {

struct Arguments {
  int cpu_s = 30;
  std::string self_test;
  int encode_aac_hz = 0;  // 0: decodes
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
    } else if (name == "--encode-aac") {
      arguments.encode_aac_hz = std::atoi(value);
    } else if (name == "--self-test") {
      arguments.self_test = value;
    }
  }
  return arguments;
}

int encode_aac(const Arguments& arguments) {
  mynah::media::AacEncoder encoder;
  if (!encoder.open(arguments.encode_aac_hz) || !mynah::media::confine(arguments.cpu_s).empty()) {
    return 1;
  }
  return encoder.run() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse({argv, static_cast<size_t>(argc)});
  av_log_set_callback(mynah::media::Decoder::take_log);
  if (arguments.encode_aac_hz != 0) {
    ::_exit(encode_aac(arguments));
  }
  mynah::media::MessageWriter writer;
  mynah::media::ByteInput input;
  if (const std::string error = mynah::media::confine(arguments.cpu_s); !error.empty()) {
    writer.error(error);
    return 1;
  }
  if (!arguments.self_test.empty()) {
    ::_exit(mynah::media::try_forbidden(arguments.self_test));
  }
  std::string error = input.open([&writer] { writer.flush(); });
  if (error.empty()) {
    error = mynah::media::Decoder(input, writer, arguments.decoder).run();
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
