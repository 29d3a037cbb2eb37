// Reading a recording needs the same memory however long it is.
#include <array>
#include <cstdio>

#include <gtest/gtest.h>
#include <sndfile.h>

#include "audio/sounds.h"
#include "base/process.h"

namespace mynah {
namespace {

// A FLAC of silence, written block by block.
std::string write_flac(const test::TemporaryFolder& folder, int minutes) {
  const std::string path = folder / (std::to_string(minutes) + ".flac");
  SF_INFO info{};
  info.samplerate = 16000;
  info.channels = 1;
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  EXPECT_NE(file, nullptr);
  const std::vector<float> second(16000);
  for (int s = 0; s < minutes * 60; ++s) {
    sf_write_float(file, second.data(), 16000);
  }
  sf_close(file);
  return path;
}

struct Listened {
  size_t samples = 0;
  long peak_kib = 0;
};

// A process of its own reads the file: its peak is of nothing else.
Listened listen(const std::string& path) {
  auto pipe = Pipe::create();
  ProcessSpec spec;
  spec.program = MYNAH_LISTEN_PROGRAM;
  spec.arguments = {path};
  spec.descriptors = {{pipe->write_end.get(), STDOUT_FILENO}};
  auto process = Process::spawn(spec);
  pipe->write_end.reset();
  std::array<char, 100> text{};
  const ssize_t got = ::read(pipe->read_end.get(), text.data(), text.size() - 1);
  Listened listened;
  EXPECT_GT(got, 0);
  EXPECT_EQ(std::sscanf(text.data(), "%zu %ld", &listened.samples, &listened.peak_kib), 2);
  return listened;
}

TEST(Memory, TwoHoursNeedNoMoreThanTwoMinutes) {
  const test::TemporaryFolder folder;
  const Listened brief = listen(write_flac(folder, 2));
  const Listened lengthy = listen(write_flac(folder, 120));
  EXPECT_EQ(brief.samples, 2U * 60 * 16000);
  EXPECT_EQ(lengthy.samples, 120U * 60 * 16000);
  // Two hours of samples are 460 MB; what differs between two runs of the same program is a matter
  // of pages.
  EXPECT_LT(lengthy.peak_kib, brief.peak_kib + 1024);
}

}  // namespace
}  // namespace mynah
