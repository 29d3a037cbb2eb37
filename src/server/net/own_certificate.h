// A certificate that a server makes for itself, where nobody else gives it one.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "base/result.h"
#include "server/net/tls_files.h"

namespace mynah::server {

// Writes both files: a key on P-256 for its owner's eyes, and a certificate signed with it for
// these names and addresses, good for 825 days (what Apple's systems take at most). Io where they
// cannot be written, Environment where OpenSSL refuses.
Status make_certificate(const TlsFiles& files, std::span<const std::string> names);

// A certificate is made anew when it has less than that to go.
inline constexpr std::chrono::days kRenewal{30};

// Whether there is a certificate that is good for so long yet. InvalidInput where the file is none.
Result<bool> is_good_for(const std::string& certificate_file, std::chrono::seconds time);

// SHA-256 of the file's first certificate, as browsers show it: "AB:CD:...". InvalidInput where it
// has none.
Result<std::string> fingerprint_of(const std::string& certificate_file);

}  // namespace mynah::server
