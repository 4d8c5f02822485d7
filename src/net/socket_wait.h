// Waiting for a socket with a deadline: what the blocking clients of this layer share.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

namespace fairlead::net {

inline std::string system_error_text(int error) { return std::generic_category().message(error); }

// Waits until the socket is ready for `events`; false: the time is over.
inline bool wait_for(int socket, short events, std::chrono::steady_clock::time_point deadline) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waiting{socket, events, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 600'000)));
        if (ready > 0) return true;
        if (ready == 0 && left.count() <= 0) return false;
        if (ready < 0 && errno != EINTR) return true;  // the call that follows says what is wrong
    }
}

}  // namespace fairlead::net
