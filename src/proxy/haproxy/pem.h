// Certificates as HAProxy takes them: checked before it sees them, because one bad PEM in its files would stop a reload
// for everybody. pem.cpp is a home of OpenSSL. Pure but for the key that is made; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::proxy::haproxy {

// One command with its payload has to fit into HAProxy's buffer (16 kB), with some room for the command itself.
inline constexpr std::size_t max_pem_bytes = 15'000;

// The Runtime API ends a payload at an empty line.
std::string without_empty_lines(std::string_view pem);

// A certificate (its chain may follow) and the key that belongs to it. Errors: invalid, too_large.
Result<void> check_certificate(std::string_view pem);
// One certificate or more. Errors: invalid, too_large.
Result<void> check_authorities(std::string_view pem);

// A new key and a certificate for it, both as PEM in one text; for ten years.
Result<std::string> make_self_signed(const std::string& common_name);

}  // namespace fairlead::proxy::haproxy
