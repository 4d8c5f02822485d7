// A UNIX socket that proxies send datagrams to, a line each, and a thread that takes them in. A proxy never waits for
// it: what does not fit into the socket's buffer is lost, and so is what comes while nobody is there. Used by HAProxy's
// access log and for what nginx says of the clients of UDP ports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "net/handles.h"

namespace fairlead::proxy {

class LineSocket {
public:
    // What has come since, each line with its end; on the socket's thread.
    using Take = std::function<void(std::string_view lines, std::size_t count)>;
    // Errors: invalid (the path is too long for a socket), unavailable; naming the path.
    static Result<std::unique_ptr<LineSocket>> open(const std::filesystem::path& path, Take take);
    // Takes in what is there, and no more afterwards.
    ~LineSocket();
    LineSocket(const LineSocket&) = delete;
    LineSocket& operator=(const LineSocket&) = delete;

private:
    LineSocket(net::Fd socket, net::Fd stop, Take take);
    void run();

    net::Fd socket_, stop_;
    Take take_;
    std::thread thread_;
};

}  // namespace fairlead::proxy
