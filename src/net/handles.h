// Owners for C handles: unique pointers that call the library's own free function. Used inside this layer; `Fd` by
// everybody who opens one.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace fairlead::net {

template <auto function>
struct Free {
    template <class T>
    void operator()(T* pointer) const {
        function(pointer);
    }
};

// A file descriptor that closes itself.
class Fd {
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

}  // namespace fairlead::net
