// SPDX-License-Identifier: Apache-2.0
import AppBackend
import FastCGI
import HTTP
import Server
import Text

extension DoctorRun {
    /// Looks at the service from within its process, for the operator's page: as the service's user, without nginx and without
    /// the socket.
    /// - Parameter file: the configuration file that the service was started with; nil: the default one.
    static func findings(of site: RunningSite, file: String?) -> [SiteFindings.Finding] {
        var run = DoctorRun(Options(running: site), file: file ?? ConfigurationFile.defaultPath())
        run.run()
        return run.report.entries.flatMap { entry in
            entry.findings.map { finding in
                SiteFindings.Finding(
                    step: entry.step.rawValue, verdict: finding.verdict.rawValue,
                    found: finding.found.withoutControls, fix: finding.fix.map(\.withoutControls))
            }
        }
    }

    /// What the service says of itself.
    mutating func serviceFindings(_ running: RunningSite) -> [Finding] {
        let name = "this service"
        let answer = Result { () throws(FastCGIProbe.Failure) in
            try RunningService { (path) throws(FastCGIProbe.Failure) in
                do {
                    return try running.responder.respond(
                        to: Request(method: .get, path: path, query: "", id: "doctor"))
                } catch {
                    throw .system("\(type(of: error))")
                }
            }
        }
        guard case .success(let service) = answer else {
            return [.fail("\(name) does not answer itself", fix: "`journalctl -u app-backend`")]
        }
        self.service = service
        return SocketFindings.findings(service, name, version: Version.text, configuration: asConfigured)
    }
}
