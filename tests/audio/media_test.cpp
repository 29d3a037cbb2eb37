// Recordings that only mynah-media reads, and a mynah-media that misbehaves.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio/media_reader.h"
#include "audio/open.h"
#include "audio/sounds.h"
#include "base/process.h"
#include "test_paths.h"

namespace mynah {
namespace {

using test::hear;
using testing::HasSubstr;

#if defined(MYNAH_ADDRESS_SANITIZER) || defined(MYNAH_THREAD_SANITIZER)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::string sample(const std::string& name) {
  return test::source_path("tests/audio/data/" + name);
}

AudioOpenOptions with_media() {
  AudioOpenOptions options;
  options.media_program = MYNAH_MEDIA_PROGRAM;
  return options;
}

// The pitch of a sine around `at`, from its zero crossings over a tenth of a second.
double pitch_hz(const std::vector<float>& samples, size_t at) {
  constexpr size_t kWindow = 1600;
  int crossings = 0;
  for (size_t i = at - kWindow / 2; i < at + kWindow / 2; ++i) {
    crossings += samples[i] < 0 && samples[i + 1] >= 0 ? 1 : 0;
  }
  return crossings / 0.1;
}

// Every sample rises from 300 Hz by 50 Hz a second (tools/make_audio_samples.sh). One crossing more
// or less in a tenth of a second is 10 Hz; 20 Hz are 0.4 s.
void expect_rising(const std::vector<float>& samples, double first_s = 0) {
  constexpr size_t kMargin = 3200;  // 0.2 s
  constexpr size_t kStep = 4000;
  for (size_t at = kMargin; at + kMargin < samples.size(); at += kStep) {
    const double seconds = static_cast<double>(at) / 16000;
    EXPECT_NEAR(pitch_hz(samples, at), 300 + 50 * (first_s + seconds), 20) << seconds;
  }
}

class Media : public testing::Test {
 protected:
  // A program that stands in for mynah-media.
  std::string script(const std::string& text) {
    std::string path = folder_ / "media";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  }

  static InputFile piped(UniqueFd fd) { return {.fd = std::move(fd), .name = "pipe"}; }

  test::TemporaryFolder folder_;
};

TEST_F(Media, EveryContainerGivesItsSound) {
  struct Case {
    const char* name;
    double seconds;
  };

  for (const Case& c : std::initializer_list<Case>{{"rise.m4a", 14},
                                                   {"rise_index_first.m4a", 14},
                                                   {"rise.webm", 14},
                                                   {"rise.wma", 2},
                                                   {"rise.ts", 2},
                                                   {"rise.aac", 2},
                                                   {"film.mp4", 2}}) {
    SCOPED_TRACE(c.name);
    const auto heard = hear(sample(c.name), with_media());
    EXPECT_EQ(heard.error, "");
    // Encoders add up to two blocks of 1024 samples, here at 16 kHz.
    EXPECT_NEAR(static_cast<double>(heard.samples.size()), c.seconds * 16000, 2 * 1024 + 1);
    expect_rising(heard.samples);
  }
}

TEST_F(Media, ChannelsAreKeptApart) {
  AudioOpenOptions options = with_media();
  options.channel = 1;
  EXPECT_THAT(hear(sample("left_only.m4a"), options).samples, testing::Each(0.0F));
  options.channel = 2;
  EXPECT_THAT(hear(sample("left_only.m4a"), options).error, HasSubstr("has 2 channels"));
}

TEST_F(Media, ACutEqualsThatPartOfTheWholeThoughItSeeks) {
  for (const char* name : {"rise.webm", "rise.m4a"}) {
    SCOPED_TRACE(name);
    const auto whole = hear(sample(name), with_media()).samples;
    AudioOpenOptions options = with_media();
    options.start_s = 11.7;
    options.duration_s = 1;
    const auto cut = hear(sample(name), options).samples;
    ASSERT_EQ(cut.size(), 16000U);
    expect_rising(cut, 11.7);
    // Matroska's clock ticks in milliseconds: the best match lies within 16 samples.
    const auto first = whole.begin() + 187200;
    float best = 1;
    for (int shift = -16; shift <= 16; ++shift) {
      best = std::min(best, test::largest_difference(cut, {first + shift, first + shift + 16000}));
    }
    // AAC fills high bands with noise of its own; both codecs have forgotten the seek by then.
    EXPECT_LE(best, 0.02F);
  }
}

TEST_F(Media, APipedMp4WithItsIndexAtTheEndIsKeptOnDisk) {
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  std::thread writer([out = std::move(pipe->write_end)] {
    const std::string bytes = test::read_file(sample("rise.m4a"));
    EXPECT_EQ(::write(out.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  });
  auto reader = open_with_media(piped(std::move(pipe->read_end)), {.program = MYNAH_MEDIA_PROGRAM});
  writer.join();
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_NEAR(static_cast<double>((*reader)->frames().value_or(0)), 14 * 16000, 1024);
}

TEST_F(Media, SoundComesOutOfAPipeThatIsStillOpen) {
  const std::string bytes = test::read_file(sample("rise.webm"));
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  ASSERT_EQ(::write(pipe->write_end.get(), bytes.data(), 20000), 20000);  // about ten seconds
  auto reader = open_with_media(piped(std::move(pipe->read_end)), {.program = MYNAH_MEDIA_PROGRAM});
  ASSERT_TRUE(reader) << reader.error().message;
  std::vector<float> out(size_t{8} * 48000);
  size_t got = 0;
  while (got < out.size()) {
    const auto count = (*reader)->read(std::span(out).subspan(got));
    ASSERT_TRUE(count && *count > 0);
    got += *count;
  }
}

TEST_F(Media, StandardInputIsReadAsAnyPipe) {
  const UniqueFd saved(::dup(STDIN_FILENO));
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  const std::string bytes = test::read_file(sample("rise.webm"));
  ASSERT_EQ(::write(pipe->write_end.get(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  pipe->write_end.reset();
  ASSERT_GE(::dup2(pipe->read_end.get(), STDIN_FILENO), 0);
  const auto heard = hear("-", with_media());
  pipe = Pipe::create();
  pipe->write_end.reset();
  ASSERT_GE(::dup2(pipe->read_end.get(), STDIN_FILENO), 0);
  EXPECT_EQ(hear("-", with_media()).error, "standard input is empty (0 bytes), wanted a recording");
  ::dup2(saved.get(), STDIN_FILENO);
  EXPECT_EQ(heard.error, "");
  expect_rising(heard.samples);
}

TEST_F(Media, ACutOffRecordingGivesWhatIsThereThenTheError) {
  const std::string path = folder_ / "a.m4a";
  std::filesystem::copy_file(sample("rise_index_first.m4a"), path);
  std::filesystem::resize_file(path, 14000);
  const auto heard = hear(path, with_media());
  EXPECT_GT(heard.samples.size(), 16000U);
  EXPECT_THAT(heard.error, HasSubstr("a.m4a is cut off after "));
  EXPECT_THAT(heard.error, HasSubstr("s: its header promises 14.000 s"));
  expect_rising(heard.samples);
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(hear(path, with_media()).error, HasSubstr("a.m4a is cut off before its first track"));
}

TEST_F(Media, DamageInTheMiddleLeavesTheRestInItsPlace) {
  std::string bytes = test::read_file(sample("rise.webm"));
  for (size_t i = 12000; i < 12400; ++i) {
    bytes[i] = '\x55';
  }
  const std::string path = folder_ / "a.webm";
  std::ofstream(path, std::ios::binary) << bytes;
  const auto heard = hear(path, with_media());
  EXPECT_THAT(heard.error, HasSubstr("a.webm is damaged after 5."));
  ASSERT_GT(heard.samples.size(), 13.5 * 16000);
  for (const double t : {2.0, 4.0, 10.5, 12.0, 13.0}) {
    EXPECT_NEAR(pitch_hz(heard.samples, static_cast<size_t>(t * 16000)), 300 + 50 * t, 20) << t;
  }
}

TEST_F(Media, WhatIsNoRecordingIsNamed) {
  const std::string text = folder_ / "notes.txt";
  std::ofstream(text) << "These are words, not sound.\n";
  EXPECT_THAT(hear(text, with_media()).error, HasSubstr("notes.txt "));
  EXPECT_THAT(hear(sample("silent_film.mp4"), with_media()).error,
              HasSubstr("silent_film.mp4 holds no audio track (found: video)"));
}

TEST_F(Media, APlaylistDoesNotReachOtherFiles) {
  const std::string path = folder_ / "list.m3u8";
  std::ofstream(path) << "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n"
                      << sample("rise.aac") << "\n#EXT-X-ENDLIST\n";
  const auto heard = hear(path, with_media());
  EXPECT_TRUE(heard.samples.empty());
  EXPECT_THAT(heard.error, HasSubstr("list.m3u8 "));
}

TEST_F(Media, WithoutTheProgramTheErrorSaysWhatToInstall) {
  const auto source = open_audio(sample("rise.m4a"), {});  // none beside this test
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::Environment);
  EXPECT_THAT(source.error().message, HasSubstr("wanted the program mynah-media beside mynah"));
}

TEST_F(Media, ADecoderThatCrashesGivesWhatWasReadThenTheError) {
  // Header, two frames of one channel, and a crash in the middle of the next message.
  AudioOpenOptions options;
  options.media_program = script(
      "printf '\\001\\000MY\\040\\000\\000\\000'\n"
      "printf '\\200\\076\\000\\000\\001\\000\\000\\000'\n"
      "printf '\\377\\377\\377\\377\\377\\377\\377\\377\\000\\000\\000\\000\\000\\000\\000\\000'\n"
      "printf '\\001\\000\\000\\000\\001\\000\\000\\000'\n"
      "printf '\\002\\000MY\\010\\000\\000\\000\\000\\000\\000\\077\\000\\000\\000\\277'\n"
      "printf '\\002\\000MY'\n"
      "kill -SEGV $$");
  const auto heard = hear(sample("rise.m4a"), options);
  EXPECT_THAT(heard.samples, testing::ElementsAre(0.5F, -0.5F));
  EXPECT_THAT(heard.error, HasSubstr("rise.m4a crashed its decoder (signal 11"));
}

TEST_F(Media, ADecoderThatTalksNonsenseIsAnError) {
  AudioOpenOptions options;
  options.media_program = script("exec cat /dev/zero");
  EXPECT_THAT(hear(sample("rise.m4a"), options).error,
              HasSubstr("mynah-media answered with a message of kind 0x0"));
}

TEST_F(Media, ADecoderThatSaysNothingIsStopped) {
  auto input = open_input_file(sample("rise.m4a"));
  ASSERT_TRUE(input);
  const auto reader = open_with_media(
      std::move(*input),
      {.program = script("exec sleep 1000"), .patience = std::chrono::milliseconds(20)});
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("made its decoder give nothing"));
  // No Cancelled: that is a user's stop, which nobody needs to be told of.
  EXPECT_EQ(reader.error().code, ErrorCode::InvalidInput);
}

TEST_F(Media, AStopEndsTheWaitForASilentDecoder) {
  std::stop_source source;
  auto input = open_input_file(sample("rise.m4a"), source.get_token());
  ASSERT_TRUE(input);
  std::thread stopper([&source] { source.request_stop(); });
  const auto reader = open_with_media(std::move(*input), {.program = script("exec sleep 1000")});
  stopper.join();
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::Cancelled);
}

class Confinement : public Media {
 protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "a sanitizer's runtime needs the calls that confinement takes away";
    }
  }

  static ProcessEnd attempt(const std::string& what, int cpu_s = 30) {
    ProcessSpec spec;
    spec.program = MYNAH_MEDIA_PROGRAM;
    spec.arguments = {"--cpu", std::to_string(cpu_s), "--self-test", what};
    auto process = Process::spawn(spec);
    EXPECT_TRUE(process);
    return process->wait(std::nullopt).value().value();
  }
};

TEST_F(Confinement, ForbiddenCallsEndTheProcess) {
  for (const char* what : {"socket", "exec", "fork", "executable"}) {
    EXPECT_EQ(attempt(what).signal, SIGSYS) << what;
  }
}

TEST_F(Confinement, WhatHarmlessCodeAsksForIsAnsweredAndFilesAreNot) {
  for (const char* what : {"open", "late"}) {
    EXPECT_TRUE(attempt(what).ok()) << what;
  }
  EXPECT_EQ(attempt("abort").signal, SIGABRT);
}

TEST_F(Confinement, MemoryAndTimeAreLimited) {
  EXPECT_TRUE(attempt("memory").ok());
  EXPECT_EQ(attempt("spin", 1).signal, SIGXCPU);
}

TEST_F(Confinement, AHostileRecordingIsAnErrorAndTheNextOneIsRead) {
  AudioOpenOptions options;
  const std::string program = MYNAH_MEDIA_PROGRAM;
  options.media_program = script("exec " + program + " --self-test socket");
  EXPECT_THAT(hear(sample("rise.m4a"), options).error, HasSubstr("the recording may be hostile"));
  options.media_program = script("exec " + program + " --cpu 1 --self-test spin");
  EXPECT_THAT(hear(sample("rise.m4a"), options).error, HasSubstr("too much time or memory"));
  EXPECT_EQ(hear(sample("rise.m4a"), with_media()).error, "");
}

TEST_F(Confinement, AnEndlessPipeOfNothingEnds) {
  auto zero = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(zero);
  const auto reader =
      open_with_media(piped(std::move(zero)), {.program = MYNAH_MEDIA_PROGRAM, .cpu_s = 2});
  ASSERT_FALSE(reader);
}

}  // namespace
}  // namespace mynah
