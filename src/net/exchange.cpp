#include "net/exchange.h"

#include "net/encoding.h"

namespace fairlead::net {

void Exchange::answer(Response response) {
    if (answered_.exchange(true)) return;
    if (sink_.expired()) return;  // spares the compression; the check that counts is below
    compress(response, server_->options.gzip_from_bytes, gzip_);
    if (const auto sink = sink_.lock()) sink->deliver(std::move(response));
}

}  // namespace fairlead::net
