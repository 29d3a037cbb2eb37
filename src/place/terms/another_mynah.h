// AnotherMynah: a mynah elsewhere that computes for this one, as --device names it:
// "box=mynah://192.168.0.9:8080?key-file=/home/me/box.key".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::place {

struct AnotherMynah {
  std::string name;         // "box": what it is called as a device
  std::string host;         // without the brackets of an IPv6 address
  std::string port;         // always set
  bool secure = true;       // https
  std::string key_file;     // whose first line is the key; "": none is sent
  std::string ca_file;      // certificates to trust besides the system's; "": none
  bool prefer = false;      // taken before what stands behind it in a list, whatever it takes
  std::string fingerprint;  // "AB:CD:...": of the one certificate to trust; "": whichever is signed

  // "https://192.168.0.9:8080", safe to print.
  [[nodiscard]] std::string address() const;

  bool operator==(const AnotherMynah&) const = default;
};

// What an address of one begins with.
inline constexpr std::string_view kMynahScheme = "mynah://";

// Whether a word of --device is meant to name one: "box=mynah://...", or an address alone.
[[nodiscard]] bool is_another_mynah(std::string_view word);

// Reads such a word. Usage where it is none, with what was wanted. The address is mynah://HOST:PORT
// with any of these behind '?', and '&' between:
//   key-file=FILE      its first line is the key that the other wants
//   ca-file=FILE       certificates to trust
//   fingerprint=AB:..  the SHA-256 of its certificate, whoever signed it
//   open               plain HTTP, as between a mynah and one that is served with --open
//   prefer             it is taken where it stands in its list, and not only where it is faster
// It is asked by https, but where "open" is said, or it is this machine and no certificate is.
// A key goes over plain HTTP to this machine alone.
[[nodiscard]] Result<AnotherMynah> parse_another_mynah(std::string_view word);

}  // namespace mynah::place
