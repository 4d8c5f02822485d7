// Settings of the Receptor API, as flags of `fairlead serve` give them. A value.
#pragma once

#include <string>
#include <vector>

namespace fairlead::apiserver::receptor {

struct FrontOptions {
    std::string name_space = "diego";         // of its DesiredLRPs, ActualLRPs and domains
    std::vector<std::string> cors_origins{};  // of web pages that may call, "https://console.example.net"
};

}  // namespace fairlead::apiserver::receptor
