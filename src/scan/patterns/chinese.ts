/**
 * The most common malicious wordings in Chinese. Chinese has no word boundaries, so each expression starts with a word that is rare in
 * harmless sentences. A sentence ends at `。` or at the ASCII character that replaces it.
 */
import { patterns, type Pattern } from '../pattern.ts';

/** Details that harmless instructions keep from users. */
const LEGITIMATELY_HIDDEN =
  /密码|密钥|令牌|凭证|凭据|敏感|隐私|token|api ?key|堆栈|报错|错误码|技术细节|术语|实现细节|内部(?:实现|细节|结构|字段|状态|变量|路径|编号)|json|原始|剧透|答案/;
/** Texts about attacks quote malicious wording. */
const ABOUT_ATTACKS =
  /注入|攻击|对抗|尝试|越狱|恶意|不可信|检测|识别|防范|防护|拒绝|安全审计|漏洞|示例|例如|eslint|css|\.gitignore/;
const USER = '(?:用户|使用者|客户|操作者|管理员|主人)';
const NO = '(?:不要|不得|不可|不能|不应|请勿|切勿|绝不|千万别|严禁|避免)';

const find = (source: string): RegExp => new RegExp(source, 'g');

export const CHINESE_PATTERNS: readonly Pattern[] = [
  ...patterns('prose', 'conceal-from-user', [
    {
      evenDenied: true,
      find: find(
        [
          `${NO}(?:告诉|告知|通知|知会|惊动)${USER}`,
          `${NO}让${USER}(?:知道|知晓|察觉|发现|看到|注意到|意识到|得知)`,
          `${NO}(?:向|对|跟|和)${USER}(?:透露|提及|提起|披露|汇报|报告|说起|坦白|承认)`,
        ].join('|'),
      ),
      unless: LEGITIMATELY_HIDDEN,
      says: 'instructs to hide something from the user',
    },
    {
      evenDenied: true,
      find: find(
        [
          `瞒着${USER}`,
          `(?:对|向)${USER}(?:隐瞒|保密)`,
          `${USER}(?:不需要|无需|不必|不应|不该|没必要)(?:知道|知晓|知情|得知|察觉)`,
          `(?:在|趁)${USER}不知情`,
          `(?:不被|避开|躲过|绕开)${USER}的?(?:察觉|发现|注意|视线)`,
        ].join('|'),
      ),
      unless: LEGITIMATELY_HIDDEN,
      says: 'hides something from the user',
    },
    {
      evenDenied: true,
      find: find(
        '(?:悄悄|偷偷|暗中|暗地里|神不知鬼不觉)地?[^。;\\n]{0,20}(?:上传|发送|发给|执行|运行|安装|删除|下载|收集|复制|修改|写入|转发|提交|记录)',
      ),
      unless: ABOUT_ATTACKS,
      says: 'instructs to act unnoticed',
    },
    {
      evenDenied: true,
      find: find('(?:清除|抹去|抹除|擦除|销毁|删掉)[^。;\\n]{0,12}(?:痕迹|证据|操作记录|命令历史|审计日志|历史记录)'),
      unless: ABOUT_ATTACKS,
      says: 'hides what was done',
    },
    {
      evenDenied: true,
      find: find(
        [
          `${NO}在[^。;\\n]{0,6}(?:回复|回答|总结|报告|日志|记录)(?:里|中)?(?:提到|提及|提起|体现|透露|留下)`,
          `别(?:跟|和|对)${USER}(?:说|提|讲)`,
        ].join('|'),
      ),
      unless: LEGITIMATELY_HIDDEN,
      severity: 'medium',
      says: 'omits evidence of the action',
    },
  ]),
  ...patterns('prose', 'deceive-user', [
    {
      find: find(
        [
          '(?:谎称|佯称|骗(?:用户|客户|使用者))',
          `(?:如果|若|当|万一)${USER}(?:问起|追问|询问|质疑|怀疑)[^。\\n]{0,40}(?:否认|不要承认|就说|敷衍|转移话题|谎)`,
          '(?:假装|装作)(?:已经|没有|是|正在|一切)',
        ].join('|'),
      ),
      unless: /角色扮演|扮演|游戏|剧本|小说|故事|测试|模拟|面试|诈骗|骗局|钓鱼/,
      says: 'instructs to make a false statement',
    },
  ]),
  ...patterns('prose', 'override-instructions', [
    {
      find: find(
        '(?:忽略|无视|忘记|忘掉|抛弃|推翻|绕过|不要理会|不再遵守)[^。;\\n]{0,8}(?:之前|以前|先前|此前|以上|上述|前面|原有|原先|系统|安全|用户)[^。;\\n]{0,6}(?:指令|指示|提示词|规则|限制|约束|设定|策略|护栏|要求)',
      ),
      unless: ABOUT_ATTACKS,
      says: 'instructs to ignore other instructions',
    },
    {
      find: find(
        [
          '你不再(?:受|是|需要遵守)',
          '你的新(?:身份|指令|系统提示|目标)是',
          '进入(?:越狱|上帝|无限制|不受限|超级管理员)模式',
          '(?:没有任何|不受任何)(?:限制|约束|规则)的(?:ai|助手|模型|代理)',
        ].join('|'),
      ),
      unless: /注入|攻击|恶意|检测|识别|防范|防护/,
      says: 'assigns the agent another role',
    },
    {
      find: find(
        [
          `(?:即使|就算|哪怕|纵然|无论)${USER}(?:是否)?(?:拒绝|反对|不同意|说不|要求停止|取消|阻止)[^。\\n]{0,40}(?:继续|仍然|仍要|也要|照样|依然|强制|必须)`,
          `(?:凌驾于|高于|优先于)[^。;\\n]{0,6}(?:${USER}的?(?:指令|要求|指示|意愿)|系统提示|安全(?:规则|策略|限制))`,
        ].join('|'),
      ),
      unless: /体验/,
      says: 'claims authority over the user',
    },
  ]),
  ...patterns('prose', 'approval-evasion', [
    {
      evenDenied: true,
      find: find(
        [
          `(?:无需|不需要|不用|不必|${NO})(?:再|先)?(?:征求|请求|征得|获得|等待|经过|询问)?${USER}的?(?:确认|同意|批准|授权|许可|审批)`,
          `(?:跳过|绕过|省去|关闭|禁用)[^。;\\n]{0,6}(?:确认|审批|批准|权限检查|权限提示)(?:步骤|环节|流程|弹窗|提示)?`,
          `未经${USER}的?(?:确认|同意|批准|授权|许可)(?:即可|就|便|直接)`,
        ].join('|'),
      ),
      unless: /只读|除非|如果用户|用户(?:明确)?(?:要求|说|表示|已)|已(?:经)?(?:确认|同意|授权)|重复|再次/,
      severity: 'medium',
      says: 'acts without asking',
    },
  ]),
  ...patterns('prose', 'exfiltration', [
    {
      find: find(
        [
          '(?:将|把)[^。;\\n]{0,24}(?:密钥|密码|私钥|凭证|凭据|令牌|环境变量|聊天记录|对话记录|通讯录|浏览记录|cookie|\\.env|\\.ssh|api ?key)[^。;\\n]{0,24}(?:发送|上传|发给|传到|传给|提交|转发|回传|上报|推送|外发)(?:到|至|给)?',
          '(?:发送|上传|转发|回传|外发|上报)[^。;\\n]{0,24}(?:密钥|私钥|凭证|凭据|环境变量|聊天记录|对话记录|通讯录|cookie|\\.env|\\.ssh)[^。;\\n]{0,16}(?:到|至|给)',
        ].join('|'),
      ),
      also: /https?:|服务器|远程|外部|第三方|webhook|邮箱|接口|网址|指定|我们/,
      unless: /不要|不得|切勿|请勿|禁止|避免|严禁|绝不|不会|防止|泄露/,
      says: 'sends private data out',
    },
  ]),
  ...patterns('prose', 'password-archive', [
    {
      find: find('(?:解压(?:缩)?密码|压缩包密码|压缩密码)(?:为|是|:|：)'),
      says: 'a password-protected archive',
    },
  ]),
  ...patterns('prose', 'security-tampering', [
    {
      find: find('(?:关闭|关掉|禁用|停用|卸载|绕过)[^。;\\n]{0,6}(?:杀毒软件|防病毒|防火墙|安全软件|defender|selinux)'),
      severity: 'medium',
      says: 'disables protection',
    },
  ]),
  ...patterns('prose', 'standing', [
    {
      find: find(
        '(?:每次|每当|每一次)[^。;\\n]{0,20}(?:任务|对话|会话|请求|操作|修改|提交|文件)[^。;\\n]{0,8}(?:后|时|前|都|均)',
      ),
      says: '',
    },
  ]),
  ...patterns('prose', 'send', [
    {
      find: find(
        '(?:上传|发送|回传|转发|外发|上报)[^。;\\n]{0,40}(?:到|至|给)[^。;\\n]{0,10}(?:https?:|远程服务器|外部服务器|第三方服务器|我们的服务器|收集服务器)',
      ),
      says: '',
    },
  ]),
  ...patterns('prose', 'collect', [
    {
      find: find(
        '(?:收集|搜集|遍历|扫描|读取|打包)[^。;\\n]{0,16}(?:主目录|家目录|用户目录|整个(?:磁盘|硬盘|项目|文件系统)|所有(?:文件|文档|邮件|聊天|联系人)|全部(?:文件|文档|邮件))',
      ),
      says: '',
    },
  ]),
];
