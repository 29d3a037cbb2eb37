// NVIDIA's driver, opened at run time: libcuda.so.1 and the functions it has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/driver_api.h"
#include "gpu/driver_places.h"

namespace mynah::gpu {

struct DriverSearch {
  // A file to open instead of looking for one; MYNAH_CUDA_DRIVER, read by cli/.
  std::string file;
  // Where to look otherwise: a name without a slash is left to the system's loader.
  std::vector<std::string> places = usual_places("libcuda.so.1");
};

// Why no driver was opened.
struct NoDriver {
  enum class Reason {
    Absent,   // no file anywhere: an ordinary machine without NVIDIA's software
    Refused,  // a file is there, but it is not a driver that mynah can use
    Named,    // the file that MYNAH_CUDA_DRIVER names is not there, or cannot be used
  };
  Reason reason = Reason::Absent;
  Error error;  // says what was looked for, what was found, and what to do
};

// A driver: constant, shared by all who call it. It is never unloaded, since it starts threads and
// exit handlers of its own. Opening it initialises nothing and touches no device.
class Driver {
 public:
  // The first usable one. A toolkit's stub is passed over, and told in the error where nothing
  // better is found.
  static std::expected<std::shared_ptr<const Driver>, NoDriver> open(
      const DriverSearch& search = {});

  // Its functions; those newer than kOldestDriver may be null.
  [[nodiscard]] const DriverApi& api() const { return api_; }

  // As cuDriverGetVersion counts: 12040 for CUDA 12.4. At least kOldestDriver.
  [[nodiscard]] int version() const { return version_; }

  // Of the file, links resolved.
  [[nodiscard]] const std::string& path() const { return path_; }

  // "550.54.14" where the file's name says so, as NVIDIA's packages have it; else empty.
  [[nodiscard]] std::string release() const;

 private:
  Driver(const DriverApi& api, int version, std::string path)
      : api_(api), version_(version), path_(std::move(path)) {}

  friend struct DriverFile;

  DriverApi api_;
  int version_ = 0;
  std::string path_;
};

}  // namespace mynah::gpu
